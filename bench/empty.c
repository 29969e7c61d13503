/* The floor under any call that is switched off: two functions in another library that do nothing. */
void bench_empty_begin(int region);
void bench_empty_end(int region);

void bench_empty_begin(int region)
{
    (void)region;
    __asm__ volatile("");
}

void bench_empty_end(int region)
{
    (void)region;
    __asm__ volatile("");
}
