"""Small programs, one for each way in which Python calls begin and end. Each is run under the tracer and
under a profile function written in Python; both must see the same calls."""

PROGRAMS = {}


def program(name, source):
    PROGRAMS[name] = source.lstrip("\n")


program(
    "plain calls",
    """
def c(): pass
def b(): c(); c()
def a(): b(); c()
a(); b()
""",
)
program(
    "recursion",
    """
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
fib(9)
""",
)
program(
    "mutual recursion",
    """
def even(n): return True if n == 0 else odd(n - 1)
def odd(n): return False if n == 0 else even(n - 1)
even(40)
""",
)
program(
    "methods and properties",
    """
class A:
    def __init__(self, x): self.x = x
    def __call__(self): return self.double
    @property
    def double(self): return 2 * self.x
    @classmethod
    def make(cls): return cls(1)
    @staticmethod
    def still(): return 3
    def __add__(self, other): return A(self.x + other.x)
    def __eq__(self, other): return self.x == other.x
    def __hash__(self): return hash(self.x)
a = A.make()
a(); A.still(); a + a; a == A(1); {a: 1}[A(1)]
""",
)
program(
    "inheritance and super",
    """
class A:
    def __init__(self): self.step()
    def step(self): return 1
class B(A):
    def __init__(self): super().__init__()
    def step(self): return super().step() + 1
class Meta(type):
    def __new__(mcls, *args): return super().__new__(mcls, *args)
class C(B, metaclass=Meta): pass
B(); C()
""",
)
program(
    "closures and lambdas",
    """
def make(n):
    def inner(x): return x + n
    return inner
add = make(2)
twice = lambda f, x: f(f(x))
twice(add, 1)
[(lambda: k)() for k in range(3)]
""",
)
program(
    "comprehensions",
    """
def f(x): return x
[f(x) for x in range(3)]
{f(x) for x in range(2)}
{f(x): f(x) for x in range(2)}
sum(f(x) for x in range(3))
[[f(y) for y in range(2)] for x in range(2)]
""",
)
program(
    "generator to the end",
    """
def work(): pass
def g(n):
    for k in range(n):
        work()
        yield k
for _ in g(4): work()
list(g(2))
""",
)
program(
    "generator left early",
    """
def g():
    try:
        while True: yield 1
    finally:
        cleanup()
def cleanup(): pass
for _ in g(): break
it = g(); next(it); it.close()
it = g(); next(it); del it
""",
)
program(
    "generator send and throw",
    """
def g():
    got = None
    while True:
        try:
            got = yield got
        except KeyError:
            got = "caught"
it = g()
next(it); it.send(1); it.throw(KeyError("x"))
try: it.throw(ValueError)
except ValueError: pass
try: next(it)
except StopIteration: pass
""",
)
program(
    "yield from",
    """
def leaf(n):
    for k in range(n): yield k
    return n
def middle(n):
    got = yield from leaf(n)
    yield from [7, 8]
    return got
def outer():
    a = yield from middle(2)
    b = yield from middle(1)
    return a + b
list(outer())
it = outer(); next(it)
try: it.throw(KeyError)
except KeyError: pass
""",
)
program(
    "recursive generator",
    """
def tree(n):
    if n:
        yield from tree(n - 1)
        yield n
        yield from tree(n - 1)
list(tree(4))
""",
)
program(
    "coroutines",
    """
import asyncio
async def leaf(n):
    await asyncio.sleep(0)
    return n
async def middle(n): return await leaf(n) + await leaf(n)
async def main(): return await middle(1)
asyncio.run(main())
""",
)
program(
    "tasks that take turns",
    """
import asyncio
def tick(name, k): pass
async def worker(name, n):
    for k in range(n):
        tick(name, k)
        await asyncio.sleep(0)
async def main():
    await asyncio.gather(worker("a", 3), worker("b", 2), worker("c", 1))
asyncio.run(main())
""",
)
program(
    "coroutine driven by hand",
    """
import types
@types.coroutine
def pause(): return (yield 1)
async def f():
    try: await pause()
    except KeyError: await pause()
c = f()
c.send(None); c.throw(KeyError("x"))
try: c.send(5)
except StopIteration: pass
c = f(); c.send(None); c.close()
""",
)
program(
    "asynchronous generators",
    """
import asyncio
async def numbers(n):
    for k in range(n):
        yield k
        await asyncio.sleep(0)
async def main():
    total = 0
    async for k in numbers(3): total += k
    squares = [k * k async for k in numbers(2)]
    it = numbers(5)
    await it.__anext__()
    await it.aclose()
asyncio.run(main())
""",
)
program(
    "asynchronous context managers",
    """
import asyncio, contextlib
class M:
    async def __aenter__(self): await asyncio.sleep(0)
    async def __aexit__(self, *e): return True
@contextlib.asynccontextmanager
async def scope():
    try: yield 1
    finally: await asyncio.sleep(0)
async def main():
    async with M(): raise KeyError
    async with scope() as s, M(): pass
asyncio.run(main())
""",
)
program(
    "cancelled task",
    """
import asyncio
async def forever():
    try:
        while True: await asyncio.sleep(0)
    finally: done()
def done(): pass
async def main():
    t = asyncio.ensure_future(forever())
    await asyncio.sleep(0); await asyncio.sleep(0)
    t.cancel()
    try: await t
    except asyncio.CancelledError: pass
asyncio.run(main())
""",
)
program(
    "exceptions through levels",
    """
def c(): raise KeyError("x")
def b(): c()
def a():
    try: b()
    finally: after()
def after(): pass
try: a()
except KeyError: after()
""",
)
program(
    "exceptions caught and raised again",
    """
def risky(n):
    if n % 2: raise ValueError(n)
    return n
def retry(n):
    try: return risky(n)
    except ValueError as error:
        try: return risky(n + 1)
        finally: note(error)
def note(e): pass
def chain():
    try: risky(1)
    except ValueError as e: raise RuntimeError from e
[retry(k) for k in range(4)]
try: chain()
except RuntimeError: note(0)
""",
)
program(
    "deep recursion",
    """
def down(n): return n and down(n - 1)
down(300)
def fail(n): return fail(n - 1) if n else 1 / 0
try: fail(300)
except ZeroDivisionError: down(1)
""",
)
program(
    "context managers",
    """
import contextlib
class M:
    def __enter__(self): return self
    def __exit__(self, *e): return True
@contextlib.contextmanager
def scope():
    try: yield 1
    finally: leave()
def leave(): pass
with M(): raise KeyError
with scope() as s, M(): leave()
try:
    with scope(): raise ValueError
except ValueError: pass
with contextlib.ExitStack() as stack:
    stack.callback(leave)
    stack.enter_context(scope())
""",
)
program(
    "callbacks from C",
    """
import functools, heapq, re, json, itertools
def key(x): return -x
def compare(a, b): return a - b
def add(a, b): return a + b
sorted([3, 1, 2], key=key)
sorted([3, 1, 2], key=functools.cmp_to_key(compare))
functools.reduce(add, range(4))
list(map(key, [1, 2])); list(filter(key, [1, 0]))
max([1, 2], key=key)
re.sub("a", lambda m: "b", "aaa")
list(itertools.starmap(add, [(1, 2)])); list(itertools.takewhile(key, [1, 0]))
functools.partial(add, 1)(2)
class S(dict):
    def __missing__(self, k): return k
S()[3]
def raises(x): raise KeyError
try: sorted([1, 2], key=raises)
except KeyError: pass
""",
)
program(
    "ctypes callbacks",
    """
import ctypes
def compare(a, b): return a[0] - b[0]
kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
libc = ctypes.CDLL(None)
array = (ctypes.c_int * 4)(4, 2, 3, 1)
libc.qsort(array, 4, ctypes.sizeof(ctypes.c_int), kind(compare))
assert list(array) == [1, 2, 3, 4]
""",
)
program(
    "finalizers and weak references",
    """
import gc, weakref
class A:
    def __del__(self): gone()
def gone(ref=None): pass
A()
a = A(); a.me = a; del a; gc.collect()
b = A(); r = weakref.ref(b, gone); del b
""",
)
program(
    "descriptors and attributes",
    """
class D:
    def __get__(self, o, t): return 1
    def __set__(self, o, v): pass
    def __set_name__(self, t, n): pass
class A:
    d = D()
    def __getattr__(self, n): return n
    def __setattr__(self, n, v): object.__setattr__(self, n, v)
    def __init_subclass__(cls): pass
a = A(); a.d; a.d = 1; a.missing; a.x = 1
class B(A): pass
""",
)
program(
    "iterators and slices",
    """
class It:
    def __init__(self): self.n = 3
    def __iter__(self): return self
    def __next__(self):
        self.n -= 1
        if self.n < 0: raise StopIteration
        return self.n
    def __getitem__(self, k): return k
    def __len__(self): return 2
    def __contains__(self, x): return False
list(It()); a, b, c = It(); It()[1:2]; len(It()); 3 in It(); print(*It(), file=open("/dev/null", "w"))
""",
)
program(
    "code made at run time",
    """
def f(): return 1
exec("f()")
eval("f()")
space = {"f": f, "__name__": "made"}
exec(compile("def g(): return f()\\ng(); g()", "<made>", "exec"), space)
space["g"]()
exec(compile("def h(): return f()\\nh()", __file__, "exec"), space)
for k in range(50):
    eval(compile(f"(lambda: f())()", __file__, "eval"))
""",
)
program(
    "classes made at run time",
    """
import dataclasses, collections, enum
@dataclasses.dataclass
class P:
    x: int = 0
    def __post_init__(self): pass
P(1) == P(2)
N = collections.namedtuple("N", "a b")
N(1, 2)._replace(a=3)
class E(enum.Enum):
    A = 1
    def label(self): return self.name
E.A.label()
""",
)
program(
    "decorators of the program",
    """
import functools
def logged(f):
    @functools.wraps(f)
    def wrapper(*args): return f(*args)
    return wrapper
@logged
@logged
def f(n): return n
@functools.lru_cache
def cached(n): return f(n)
@functools.singledispatch
def by_type(x): return f(x)
@by_type.register
def _(x: int): return f(x)
f(1); cached(1); cached(1); by_type(1); by_type("x")
""",
)
program(
    "threads",
    """
import threading
def work(n): return n and work(n - 1)
def run(n):
    for k in range(n): work(2)
ts = [threading.Thread(target=run, args=(k,), name=f"T{k}") for k in (1, 2, 3)]
for t in ts: t.start()
for t in ts: t.join()
run(1)
""",
)
program(
    "thread that fails",
    """
import threading
def fail(): raise SystemExit
def run():
    try: fail()
    finally: after()
def after(): pass
t = threading.Thread(target=run, name="failing")
t.start(); t.join(); after()
""",
)
program(
    "pool of threads",
    """
from concurrent.futures import ThreadPoolExecutor
def job(n): return inner(n)
def inner(n): return n
with ThreadPoolExecutor(1, thread_name_prefix="pool") as pool:
    assert list(pool.map(job, range(5))) == list(range(5))
""",
)
program(
    "generator resumed by another thread",
    """
import threading
def step(): pass
def g():
    for k in range(4):
        step()
        yield k
it = g(); next(it)
t = threading.Thread(target=lambda: next(it), name="other")
t.start(); t.join()
list(it)
""",
)
program(
    "C functions of every kind",
    """
import math, operator, itertools
def f(x): return math.sqrt(len(x))
class L(list):
    def __len__(self): return len([1])
    def append(self, x): super().append(x)
def kinds():
    l = [3, 1, 2]
    l.append(4); l.sort(reverse=True)
    bound = l.append
    bound(5)
    "".join(["a"]); str.upper("x"); "a {} b".format(1)
    dict.fromkeys([1]); dict.fromkeys(*[[1]]); {}.update(**{"a": 1})
    str.maketrans("a", "b"); bytes.fromhex("00"); object.__new__(object)
    max(*l, key=operator.neg); int("3"); L((1,)); operator.itemgetter(0)(l)
    list.append(l, 1); (1).bit_length(); (1.5).hex(); type.mro(L); L.mro()
    list(itertools.chain([1], [2])); isinstance(1, int); getattr(l, "append")(1)
    return sum(k for k in l)
x = L(); x.append(1); len(x); y = x.append; y(2); y = super(L, x).append; y(3)
f([1]); kinds()
""",
)
program(
    "exceptions from C",
    """
import math
def swallow(f, *args):
    try: return f(*args)
    except Exception as e: return repr(e)
def fails(x): raise KeyError(x)
swallow(math.sqrt, -1); swallow([].index, 3); swallow(len, 3); swallow(int, "x")
swallow(sorted, [1, 2], None, 3); swallow(max, []); swallow(eval, "1 / 0"); swallow("a".foo if 0 else next, iter([]))
def through():
    try: max([1, 2], key=fails)
    except KeyError: pass
    try: list(map(fails, [1])); 
    except KeyError: pass
    [1].index(1)
    {}[1] if 0 else {}.pop(1)
try: through()
except KeyError: [].append(1)
with open("/dev/null") as file: file.read(1); file.readable()
""",
)
program(
    "C functions that resume",
    """
def g():
    got = yield 1
    try: yield len([got])
    except KeyError: yield abs(-2)
    finally: abs(-1)
it = g()
next(it); it.send(4); it.throw(KeyError("x")); it.close()
it = g(); next(it); del it
it = iter(lambda: abs(0), 0); next(it, 1)
any(abs(k) for k in range(3)); "".join(str(k) for k in range(2))
async def c(): return abs(-3)
try: c().send(None)
except StopIteration: pass
""",
)
program(
    "threads that call C",
    """
import threading, _thread
def work(n, lock):
    for k in range(n): sorted([2, 1], key=lambda x: -x)
    lock.release()
locks = [_thread.allocate_lock() for _ in range(2)]
for lock in locks: lock.acquire()
t = threading.Thread(target=work, args=(3, locks[0]), name="T")
t.start(); t.join(); locks[0].acquire()
work(2, locks[1])
""",
)
program(
    "leaving by sys.exit",
    """
import sys
def leave():
    try: sys.exit(0)
    finally: after()
def after(): pass
def main(): leave()
main()
""",
)
program(
    "pattern matching and walrus",
    """
class P:
    __match_args__ = ("x",)
    def __init__(self, x): self.x = x
def kind(p):
    match p:
        case P(x) if positive(x): return 1
        case _: return 0
def positive(x): return x > 0
kind(P(1)); kind(P(-1)); kind(3)
if (n := kind(P(2))): positive(n)
""",
)
