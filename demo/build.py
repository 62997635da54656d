#!/usr/bin/env python3
"""Builds the demo's tasks and prints the path of the JSONL file that lists them.

Each package of releases.json becomes a task and an image. What is built already, from
the same inputs and with its image still there, is kept: a second call takes a moment.
"""
import concurrent.futures
import contextlib
import fcntl
import hashlib
import json
import os
import subprocess
import sys
import time

import image
import make_task
import release

HERE = os.path.dirname(os.path.abspath(__file__))
BASE = 'relabel/base:bookworm'
TASKS = 'tasks.jsonl'  # in the cache folder
ENOUGH = 4  # tasks that make a demo worth running when others cannot be had


def cache_folder():
    cache = os.environ.get('RELABEL_CACHE') or os.path.join(
        os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'relabel')
    return os.path.join(cache, 'demo')


def read_bytes(path):
    with open(path, 'rb') as file:
        return file.read()


def write_aside(path, text):
    """Write a file so that nobody ever sees half of it."""
    aside = f'{path}.{os.getpid()}'
    with open(aside, 'w', encoding='utf-8') as file:
        file.write(text)
    os.replace(aside, path)


def digest(entry, base_id):
    """A name for all that a task is made from: the entry, this code, the base image."""
    sources = [read_bytes(os.path.join(HERE, f)) for f in ('image.py', 'make_task.py', 'release.py')]
    parts = [json.dumps(entry, sort_keys=True).encode(), base_id.encode(), *sources]
    return hashlib.sha256(b'\0'.join(parts)).hexdigest()[:16]


def kept_task(path):
    """The task that was kept at path, or None."""
    try:
        return json.loads(read_bytes(path))
    except (OSError, ValueError):
        return None


@contextlib.contextmanager
def locked(folder):
    """Hold the folder's lock: two calls at once build one set of images and mirrors."""
    with open(os.path.join(folder, 'lock'), 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build_python():
    """The Python with pip and the build backends."""
    return release.run(os.path.join(HERE, '..', 'scripts', 'python.sh'),
                       os.path.join(HERE, 'requirements.txt')).decode().strip()


def build(entries, base_id, folder):
    """Build the entries side by side; return ({package: task}, {package: why not})."""
    python, begin = build_python(), time.monotonic()
    tasks, failed = {}, {}

    def one(entry):
        name = digest(entry, base_id)
        task, figures = make_task.make_task(entry, name, BASE, python, os.path.join(folder, 'archives'))
        write_aside(os.path.join(folder, name + '.json'), json.dumps(task))
        return task, figures

    with concurrent.futures.ThreadPoolExecutor(max_workers=max(2, min(4, os.cpu_count() or 2))) as pool:
        jobs = {pool.submit(one, entry): entry['package'] for entry in entries}
        try:
            for job in concurrent.futures.as_completed(jobs):
                package = jobs[job]
                try:
                    tasks[package], figures = job.result()
                    say(f'{package}: {figures} (after {time.monotonic() - begin:.0f} s)')
                except (release.Failed, OSError) as why:
                    failed[package] = str(why)
                    say(f'{package}: {why}')
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)  # begin no other
            raise
    return tasks, failed


def say(text):
    print('tasks: ' + text, file=sys.stderr, flush=True)


def main():
    base_id = image.image_id(BASE)
    if not base_id:
        raise release.Failed(f'the image {BASE} is missing: run scripts/base-image.sh')
    folder = cache_folder()
    os.makedirs(folder, exist_ok=True)
    with locked(folder):
        print(make_tasks(base_id, folder))


def make_tasks(base_id, folder):
    """Make the tasks that are missing and return the file that lists all."""
    entries = json.loads(read_bytes(os.path.join(HERE, 'releases.json')))
    made_from = image.labels([make_task.image_name(entry) for entry in entries])
    tasks = {}
    for entry in entries:
        name = digest(entry, base_id)
        task = kept_task(os.path.join(folder, name + '.json'))
        if task and made_from.get(task['image']) == name:
            tasks[entry['package']] = task
    missing = [entry for entry in entries if entry['package'] not in tasks]
    if missing:
        say(f'building {len(missing)} of {len(entries)} out of released packages')
        built, failed = build(missing, base_id, folder)
        tasks.update(built)
        if len(tasks) < min(ENOUGH, len(entries)):
            raise release.Failed(f'only {len(tasks)} tasks could be built; are the package index and Docker reachable? '
                                 f'Failed: {", ".join(sorted(failed))}')
        if failed:
            say(f'going on with {len(tasks)} tasks; the next call tries {", ".join(sorted(failed))} again')
    path = os.path.join(folder, TASKS)
    write_aside(path, ''.join(json.dumps(tasks[e['package']]) + '\n' for e in entries if e['package'] in tasks))
    return path


if __name__ == '__main__':
    try:
        main()
    except (release.Failed, OSError, subprocess.SubprocessError) as problem:
        say(str(problem))
        sys.exit(1)
    except KeyboardInterrupt:
        say('interrupted; the next call goes on with what is missing')
        sys.stderr.flush()
        os._exit(130)  # without waiting for builds that the signal has not ended
