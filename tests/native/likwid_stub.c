/* LIKWID's marker functions as its header declares them. What is called is written down, one line each,
 * into the file $LIKWID_STUB_LOG, with a number for the thread in the order in which threads turn up. It
 * counts on two events, INSTR and CYC: each call of a region is 100 and 40 of them and half a second. At the
 * close it writes the marker file, in LIKWID's form.
 *
 * It reads such a file of one thread, and knows two metrics of it: calls a second, and CYC over INSTR.
 *
 * LIKWID_STUB_REFUSES=init: markers do not come up; =start: no region starts; =read: no file is read. LIKWID_STUB_PROCESSOR: where
 * threads run (0 unless set). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_up, num_threads, num_tags, num_groups;
static __thread int thread;
static char tags[MOST][128];
static int counts[MOST];

static void note(const char *what, const char *tag)
{
    pthread_mutex_lock(&lock);
    if (thread == 0)
        thread = ++num_threads;
    const char *path = getenv("LIKWID_STUB_LOG");
    FILE *out = path == NULL ? NULL : fopen(path, "a");
    if (out != NULL) {
        fprintf(out, "%s %d%s%s\n", what, thread, *tag == '\0' ? "" : " ", tag);
        fclose(out);
    }
    pthread_mutex_unlock(&lock);
}

static int refuses(const char *what)
{
    const char *set = getenv("LIKWID_STUB_REFUSES");
    return set != NULL && strcmp(set, what) == 0;
}

static int number_of(const char *tag)
{
    for (int i = 0; i < num_tags; i++)
        if (strcmp(tags[i], tag) == 0)
            return i;
    snprintf(tags[num_tags], sizeof tags[0], "%s", tag);
    return num_tags++;
}

void likwid_markerInit(void);
void likwid_markerThreadInit(void);
void likwid_markerClose(void);
int likwid_markerStartRegion(const char *tag);
int likwid_markerStopRegion(const char *tag);
void likwid_markerGetRegion(const char *tag, int *events, double *values, double *seconds, int *count);
int likwid_getProcessorId(void);
int perfmon_getNumberOfGroups(void);
int perfmon_getIdOfActiveGroup(void);
int perfmon_getNumberOfEvents(int group);
char *perfmon_getGroupName(int group);
char *perfmon_getEventName(int group, int event);
char *perfmon_getCounterName(int group, int event);

void likwid_markerInit(void)
{
    note("init", "");
    is_up = !refuses("init");
    num_groups = is_up;
}

void likwid_markerThreadInit(void)
{
    note("thread", "");
}

void likwid_markerClose(void)
{
    const char *path = getenv("LIKWID_FILEPATH");
    FILE *out = path == NULL ? NULL : fopen(path, "w");
    note("close", "");
    if (out != NULL) {
        fprintf(out, "1 %d 1\n", num_tags);
        for (int i = 0; i < num_tags; i++)
            fprintf(out, "%d:%s-0\n", i, tags[i]);
        for (int i = 0; i < num_tags; i++)
            fprintf(out, "%d 0 0 %d %e 2 %e %e \n", i, counts[i], 0.5 * counts[i], 100.0 * counts[i],
                    40.0 * counts[i]);
        fclose(out);
    }
    is_up = num_groups = 0;
}

int likwid_markerStartRegion(const char *tag)
{
    note("start", tag);
    return is_up && !refuses("start") ? 0 : -14;
}

int likwid_markerStopRegion(const char *tag)
{
    note("stop", tag);
    pthread_mutex_lock(&lock);
    counts[number_of(tag)]++;
    pthread_mutex_unlock(&lock);
    return is_up ? 0 : -14;
}

void likwid_markerGetRegion(const char *tag, int *events, double *values, double *seconds, int *count)
{
    pthread_mutex_lock(&lock);
    *count = counts[number_of(tag)];
    pthread_mutex_unlock(&lock);
    *events = 2;
    values[0] = 100.0 * *count;
    values[1] = 40.0 * *count;
    *seconds = 0.5 * *count;
}

int likwid_getProcessorId(void)
{
    const char *set = getenv("LIKWID_STUB_PROCESSOR");
    return set == NULL ? 0 : atoi(set);
}

int perfmon_getNumberOfGroups(void)
{
    return num_groups > 0 ? num_groups : -22;
}

int perfmon_getIdOfActiveGroup(void)
{
    return 0;
}

int perfmon_getNumberOfEvents(int group)
{
    return group == 0 ? 2 : -22;
}

char *perfmon_getGroupName(int group)
{
    static char name[] = "CLOCK";
    return group == 0 ? name : NULL;
}

char *perfmon_getEventName(int group, int event)
{
    static char names[2][8] = {"INSTR", "CYC"};
    (void)group;
    return names[event];
}

char *perfmon_getCounterName(int group, int event)
{
    static char names[2][8] = {"FIXC0", "FIXC1"};
    (void)group;
    return names[event];
}

/* ---- what was read ---- */

static char read_tags[MOST][128];
static double rows[MOST][4]; /* calls, seconds, two events */
static int num_read;

int topology_init(void);
int perfmon_init(int count, const int *processors);
int perfmon_addEventSet(const char *events);
int perfmon_readMarkerFile(const char *path);
int perfmon_getNumberOfRegions(void);
char *perfmon_getTagOfRegion(int region);
int perfmon_getGroupOfRegion(int region);
int perfmon_getEventsOfRegion(int region);
int perfmon_getMetricsOfRegion(int region);
int perfmon_getThreadsOfRegion(int region);
int perfmon_getCpulistOfRegion(int region, int count, int *processors);
double perfmon_getTimeOfRegion(int region, int t);
int perfmon_getCountOfRegion(int region, int t);
double perfmon_getResultOfRegionThread(int region, int event, int t);
double perfmon_getMetricOfRegionThread(int region, int metric, int t);
char *perfmon_getMetricName(int group, int metric);

int topology_init(void)
{
    return 0;
}

int perfmon_init(int count, const int *processors)
{
    return count == 1 && processors[0] == 0 ? 0 : -22;
}

int perfmon_addEventSet(const char *events)
{
    return strcmp(events, "CLOCK") == 0 ? 0 : -22;
}

int perfmon_readMarkerFile(const char *path)
{
    FILE *in = refuses("read") ? NULL : fopen(path, "r");
    if (in == NULL || fscanf(in, "%*d %d %*d", &num_read) != 1 || num_read > MOST)
        return -22;
    for (int i = 0; i < num_read; i++)
        if (fscanf(in, " %*d:%127s", read_tags[i]) != 1)
            return -22;
    for (int i = 0; i < num_read; i++)
        if (fscanf(in, "%*d %*d %*d %lf %lf 2 %lf %lf", &rows[i][0], &rows[i][1], &rows[i][2],
                   &rows[i][3]) != 4)
            return -22;
    fclose(in);
    return 0;
}

int perfmon_getNumberOfRegions(void)
{
    return num_read;
}

char *perfmon_getTagOfRegion(int region)
{
    return read_tags[region];
}

int perfmon_getGroupOfRegion(int region)
{
    (void)region;
    return 0;
}

int perfmon_getEventsOfRegion(int region)
{
    (void)region;
    return 2;
}

int perfmon_getMetricsOfRegion(int region)
{
    (void)region;
    return 2;
}

int perfmon_getThreadsOfRegion(int region)
{
    (void)region;
    return 1;
}

int perfmon_getCpulistOfRegion(int region, int count, int *processors)
{
    (void)region;
    processors[0] = 0;
    return count;
}

double perfmon_getTimeOfRegion(int region, int t)
{
    (void)t;
    return rows[region][1];
}

int perfmon_getCountOfRegion(int region, int t)
{
    (void)t;
    return (int)rows[region][0];
}

double perfmon_getResultOfRegionThread(int region, int event, int t)
{
    (void)t;
    return rows[region][2 + event];
}

double perfmon_getMetricOfRegionThread(int region, int metric, int t)
{
    (void)t;
    return metric == 0 ? rows[region][0] / rows[region][1] : rows[region][3] / rows[region][2];
}

char *perfmon_getMetricName(int group, int metric)
{
    static char names[2][16] = {"Calls/s", "CPI"};
    (void)group;
    return names[metric];
}
