#!/usr/bin/env python3
"""Makes bare git mirrors of the demo's packages and prints the folder that has them.

Each mirror, owner__name.git, has one commit: the base commit of the package's task, made from
the same archive. Mirrors that are there with that commit are kept.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import build
import release


def has_commit(mirror, commit):
    """Whether the mirror's branch is the commit."""
    done = subprocess.run(['git', '--git-dir', mirror, 'rev-parse', '-q', '--verify', 'main^{commit}'],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip() == commit


def make(entry, task, archives, mirror):
    """Make the mirror of an entry of releases.json, with the base commit of its task."""
    package, version = entry['package'], entry['from']
    with tempfile.TemporaryDirectory(dir=os.path.dirname(mirror)) as tmp:
        python = build.build_python()
        release.unpack(release.fetch(python, archives, package, version, entry['from_sha256']), f'{tmp}/source')
        commit = release.base_repository(f'{tmp}/source', f'{tmp}/base', f'{package} {version}')
        if commit != task['base_commit']:
            raise release.Failed(f'{package}: the mirror would have commit {commit}, '
                                 f'but the task has {task["base_commit"]}: remove {task["image"]}')
        release.git(f'{tmp}/base', 'config', 'core.bare', 'true')
        shutil.rmtree(mirror, ignore_errors=True)
        os.rename(f'{tmp}/base/.git', mirror)


def main():
    folder = build.cache_folder()
    mirrors = os.path.join(folder, 'repositories')
    os.makedirs(mirrors, exist_ok=True)
    with build.locked(folder):
        lines = build.read_bytes(os.path.join(folder, build.TASKS)).splitlines()
        tasks = {task['repo']: task for task in map(json.loads, lines)}
        for entry in json.loads(build.read_bytes(os.path.join(build.HERE, 'releases.json'))):
            task = tasks.get(f'pypi/{entry["package"]}')
            mirror = os.path.join(mirrors, f'pypi__{entry["package"]}.git')
            if task and not has_commit(mirror, task['base_commit']):
                make(entry, task, os.path.join(folder, 'archives'), mirror)
    print(mirrors)


if __name__ == '__main__':
    try:
        main()
    except (release.Failed, OSError, subprocess.SubprocessError) as problem:
        print(f'mirrors: {problem}', file=sys.stderr, flush=True)
        sys.exit(1)
