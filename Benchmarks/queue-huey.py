"""SqliteHuey, with a sync at each commit, as a side of bench-queue: jobs that do nothing, handed in by one process and run by
another.

usage: queue-huey.py FILE JOBS WORKERS    prints seconds until all were handed in, and until all had ended, as JSON
"""

import json
import multiprocessing
import sys
import time

from huey import SqliteHuey

file, jobs, workers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
huey = SqliteHuey(filename=file, fsync=True, results=False)
ended = multiprocessing.Value("q", 0)


@huey.task()
def noop():
    with ended.get_lock():
        ended.value += 1


def consume():
    consumer = huey.create_consumer(
        workers=workers, periodic=False, initial_delay=0.001, backoff=1.0, max_delay=0.001, check_worker_health=False
    )
    consumer.start()
    while ended.value < jobs:
        time.sleep(0.002)
    consumer.stop(graceful=True)


worker = multiprocessing.get_context("fork").Process(target=consume)
worker.start()
start = time.monotonic()
for _ in range(jobs):
    noop()
enqueued = time.monotonic()
while ended.value < jobs:
    time.sleep(0.002)
completed = time.monotonic()
worker.join()
print(json.dumps({
    "values": {"enqueue": enqueued - start, "completed": completed - start},
    "sums": {"completed": ended.value},
}))
