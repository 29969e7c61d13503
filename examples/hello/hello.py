"""The smallest Python program that records: scope-profiler run hello.py"""

import scope_profiler

for _ in range(3):
    with scope_profiler.region("greeting"):
        print("hello")
