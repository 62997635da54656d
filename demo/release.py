"""What two releases of a package give: the older source as a repository of one commit,
and the differences to the newer one, apart for sources and tests.

pip runs a package's own build code to learn the name of a source archive; the archives
are pinned by hash before that.
"""
import os
import re
import shlex
import subprocess
import tempfile

TEST = re.compile(r'(^|/)tests?/|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$|^tests?\.py$')
COLLECTED = re.compile(r'(^|/)(test_[^/]*|[^/]*_test)\.py$|^tests?\.py$')
SOURCE = re.compile(r'\.(py|pyi|lark)$')
NO_SOURCE = re.compile(r'(^|/)(docs?|examples?|scripts|bin|tools|\.[^/]+|[^/]+\.egg-info)/'
                       r'|(^|/)_?version\.py$|^(setup|noxfile|tasks|conf)\.py$')

# The commit is the same on every machine: it depends neither on the user's configuration
# nor on the time.
GIT = {'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_CONFIG_SYSTEM': '/dev/null'}
for who in ('AUTHOR', 'COMMITTER'):
    GIT.update({f'GIT_{who}_NAME': 'base', f'GIT_{who}_EMAIL': 'base@invalid',
                f'GIT_{who}_DATE': '2000-01-01T00:00:00Z'})


class Failed(Exception):
    """A step that failed, with a message for the user."""


def run(*cmd, cwd=None, env=None, stdin=None, limit=600):
    """Run cmd and return its standard output as bytes; a failure is Failed."""
    try:
        done = subprocess.run(cmd, cwd=cwd, env={**os.environ, **(env or {})}, input=stdin,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limit)
    except subprocess.TimeoutExpired:
        raise Failed(f'{shlex.join(cmd[:4])} …: no end after {limit} s') from None
    if done.returncode:
        tail = done.stderr.decode(errors='replace').strip()[-600:]
        raise Failed(f'{shlex.join(cmd[:6])} …: exit {done.returncode}: {tail}')
    return done.stdout


def git(repo, *args):
    """Run git in repo and return its output; bytes that are no UTF-8 survive."""
    return run('git', '-C', repo, *args, env=GIT).decode('utf-8', 'surrogateescape')


def fetch(python, archives, name, version, sha256):
    """The path of the source archive, downloaded into the folder archives unless there."""
    kept = os.path.join(archives, sha256 + '.tar.gz')
    if os.path.exists(kept):
        return kept
    with tempfile.TemporaryDirectory() as tmp:
        wanted = os.path.join(tmp, 'wanted.txt')
        with open(wanted, 'w') as file:
            file.write(f'{name}=={version} --hash=sha256:{sha256}\n')
        into = os.path.join(tmp, 'archive')
        # pip inverts this variable: 0 means that the backends beside it are used.
        run(python, '-m', 'pip', 'download', '-q', '--no-deps', '--no-binary', ':all:',
            '-d', into, '-r', wanted, env={'PIP_NO_BUILD_ISOLATION': '0'})
        os.makedirs(archives, exist_ok=True)
        aside = f'{kept}.{os.getpid()}'
        with open(os.path.join(into, os.listdir(into)[0]), 'rb') as source, open(aside, 'wb') as copy:
            copy.write(source.read())
        os.replace(aside, kept)
    return kept


def unpack(archive, into):
    os.makedirs(into)
    run('tar', '-xzf', archive, '-C', into, '--strip-components=1', '--no-same-owner')


def commit(repo, tree, message):
    """Make the repository repo hold what tree holds, as a commit; return its hash."""
    if not os.path.isdir(os.path.join(repo, '.git')):
        run('git', 'init', '-q', '-b', 'main', '--template=', repo, env=GIT)
    git(repo, '--git-dir', f'{repo}/.git', '--work-tree', tree, 'add', '-A', '-f', '.')
    git(repo, 'commit', '-q', '--allow-empty', '-m', message)
    git(repo, 'reset', '-q', '--hard')
    return git(repo, 'rev-parse', 'HEAD').strip()


def base_repository(tree, into, message):
    """A repository of one commit with tree's content; return the commit.

    What Python and pytest leave behind is ignored without a file in the work tree.
    """
    base = commit(into, tree, message)
    git(into, 'gc', '-q')
    os.makedirs(f'{into}/.git/info', exist_ok=True)
    with open(f'{into}/.git/info/exclude', 'w') as file:
        file.write('__pycache__/\n.pytest_cache/\n')
    return base


class Difference:
    """The difference of two source trees: patch, test_patch, test_files."""

    def __init__(self, work, old_tree, new_tree, versions):
        """work is a new folder for a repository of both trees; versions are their names."""
        self.work, self.versions = work, versions
        self.base = commit(work, old_tree, versions[0])
        self.to = commit(work, new_tree, versions[1])
        names = [n for n in git(work, 'diff', '--no-renames', '--name-only', '-z',
                                self.base, self.to).split('\0') if n]
        tests = [n for n in names if TEST.search(n) and '.egg-info/' not in n]
        source = [n for n in names if n not in tests and SOURCE.search(n)
                  and not NO_SOURCE.search(n) and not self.says_only_version(n)]
        self.patch, self.test_patch = self.diff(source), self.diff(tests)
        self.test_files = [n for n in tests if COLLECTED.search(n) and os.path.exists(f'{work}/{n}')]
        if not (self.patch and self.test_patch and self.test_files):
            raise Failed(f'{versions}: {len(source)} source and {len(tests)} test files changed: not a task')

    def diff(self, paths, *options):
        if not paths:
            return ''
        return git(self.work, 'diff', '--no-renames', '--no-ext-diff', '--binary', *options,
                   self.base, self.to, '--', *paths)

    def says_only_version(self, path):
        """Whether path's change says nothing but a version or a copyright year."""
        hunks = self.diff([path], '-U0').split('\n@@')[1:]
        lines = [line for hunk in hunks for line in hunk.split('\n')[1:]
                 if line[:1] in ('+', '-') and line[1:].strip()]
        mark = re.compile('|'.join(['version', 'copyright', *map(re.escape, self.versions)]), re.I)
        return bool(lines) and all(mark.search(line) for line in lines)
