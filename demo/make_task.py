"""Makes a task for relabel out of two releases of a Python package.

The older source is the base commit, the difference of the sources the gold patch, the
difference of the tests the test patch. FAIL_TO_PASS and PASS_TO_PASS come from running
the newer tests on both sources, inside the image that the task is rolled out in.
"""
import os
import re
import shlex
import tempfile

import image
import release

SUMMARY = re.compile(r'^=+ short test summary info =+$', re.M)
# Ids with spaces are omitted: a line does not show where such an id ends.
RESULT = re.compile(r'^(PASSED|FAILED|ERROR) (\S+?::[^\s\[]+(?:\[\S*\])?)(?: - .*)?$')


def parse_pytest(log):
    """{test id: passed} from the summary that `pytest -rA` prints."""
    found = {}
    for line in SUMMARY.split(log)[-1].splitlines():
        hit = RESULT.match(line)
        if hit:
            status, test = hit.groups()
            found[test] = status == 'PASSED' and found.get(test, True)
    return found


def test_command(tree, files):
    """The command that runs the test files on the sources of tree."""
    where = 'src' if os.path.isdir(os.path.join(tree, 'src')) else '.'
    return (f'PYTHONPATH={where} python3 -m pytest -rA -o addopts= -p no:cacheprovider '
            f'--continue-on-collection-errors {shlex.join(files)}')


def sort_tests(name, difference, command):
    """(FAIL_TO_PASS, PASS_TO_PASS, seconds of one run)."""
    before, _ = image.run_tests(name, difference.test_patch, command)
    both = difference.test_patch + difference.patch
    after, seconds = image.run_tests(name, both, command)
    again, _ = image.run_tests(name, both, command)
    old, new, repeated = parse_pytest(before), parse_pytest(after), parse_pytest(again)
    good = sorted(test for test in new if new[test] and repeated.get(test))
    fixed = [test for test in good if not old.get(test)]
    if not fixed:
        raise release.Failed(f'{name}: no test fails before and passes after: not a task\n{after[-1500:]}')
    return fixed, [test for test in good if old.get(test)], seconds


def image_name(entry):
    """The name of the image of an entry of releases.json."""
    return f'relabel/demo-{entry["package"]}:{entry["from"]}'


def make_task(entry, digest, base, python, archives):
    """The task of an entry of releases.json as (a dict for a JSON line, figures).

    digest names what it is made from, base is the image to start from, python one that has pip and build backends, archives
    the folder that keeps what was downloaded.
    """
    package, old, new = entry['package'], entry['from'], entry['to']
    name = image_name(entry)
    with tempfile.TemporaryDirectory() as tmp:
        for version, pin in ((old, entry['from_sha256']), (new, entry['to_sha256'])):
            release.unpack(release.fetch(python, archives, package, version, pin), f'{tmp}/{version}')
        difference = release.Difference(f'{tmp}/work', f'{tmp}/{old}', f'{tmp}/{new}', (old, new))
        commit = release.base_repository(f'{tmp}/{old}', f'{tmp}/base', f'{package} {old}')
        command = test_command(f'{tmp}/{old}', difference.test_files)
        image.make(base, f'{tmp}/base', name, digest)
    fixed, kept, seconds = sort_tests(name, difference, command)
    task = {
        'instance_id': f'pypi__{package}-{new}', 'repo': f'pypi/{package}', 'base_commit': commit,
        'image': name, 'workdir': image.WORKDIR,
        'problem_statement': entry['problem_statement'], 'hints_text': '',
        'patch': difference.patch, 'test_patch': difference.test_patch,
        'test_cmd': command, 'log_parser': 'pytest', 'FAIL_TO_PASS': fixed, 'PASS_TO_PASS': kept,
    }
    return task, f'{len(fixed)} to fix, {len(kept)} to keep, {seconds:.1f} s a run'
