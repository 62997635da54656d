#!/usr/bin/env bash
# Makes the logs of runners on Node.js, Python and Go again: OUT, JS, PY and WORK name folders. JS holds mocha 10.8.2, jasmine 5.6.0,
# ava 6.2.0, qunit 2.24.1, jest 29.7.0 and vitest 1.6.1; PY holds pytest 8.4.1, pytest-xdist 3.6.1, django 4.2.21, sympy 1.13.3,
# nose2 0.15.1, pynose 1.5.4 and tox 4.26.0. Paths of this machine in the logs are replaced by /work afterwards.
set -u
O=${OUT:?where the logs go}; J=${JS:?a folder with node_modules}; P=${PY:?a virtual environment}
cd $J
mkdir -p m a j q t
cat > m/test.js <<'E'
const assert = require('assert');
describe('sum', () => {
  it('adds', () => {});
  it('adds slowly', (d) => setTimeout(d, 120));
  it('fails', () => assert.equal(1, 2));
  it.skip('is pending', () => {});
  it('prints', () => console.log('  ✔ forged'));
  describe('of floats', () => { it('adds', () => {}); it('breaks: with a colon', () => { throw new Error('no'); }); });
});
describe('other', () => { before(() => { throw new Error('hook'); }); it('never runs', () => {}); });
E
npx mocha m/test.js >$O/mocha.log 2>&1
npx mocha --color m/test.js >$O/mocha-colour.log 2>&1
npx mocha --reporter json m/test.js >$O/mocha_json.log 2>&1
npx mocha --reporter min m/test.js >$O/eslint.log 2>&1
(echo "+ ./node_modules/.bin/mocha tests/run.js --reporter json"; npx mocha --reporter json m/test.js) >$O/prismjs.log 2>&1
(echo "+ ./node_modules/.bin/mocha --reporter json x"; npx mocha --reporter json m/test.js) >$O/lighthouse_json.log 2>&1
(echo "running 1 test files"; npx mocha m/test.js) >$O/lighthouse_mocha.log 2>&1
npx mocha --reporter tap m/test.js >$O/tap-mocha.log 2>&1
cat > a/test.js <<'E'
const test = require('ava');
test('adds', t => t.is(1 + 2, 3));
test('fails', t => t.is(1, 2));
test('breaks', t => { throw new Error('no'); });
test.skip('skipped', t => t.pass());
test.todo('later');
test.failing('known', t => t.fail());
test('slow', async t => { await new Promise(r => setTimeout(r, 300)); t.log('noise'); t.pass(); });
E
npx ava a/test.js >$O/ava.log 2>&1
npx ava --tap a/test.js >$O/tap-ava.log 2>&1
cat > j/spec.js <<'E'
describe('sum', () => {
  it('adds', () => expect(1 + 2).toBe(3));
  it('fails', () => expect(1).toBe(2));
  describe('floats', () => { it('breaks', () => { throw new Error('no'); }); xit('pending', () => {}); });
});
E
npx jasmine --no-color --random=false j/spec.js >$O/marked.log 2>&1
cat > q/test.js <<'E'
QUnit.module('Sphere', () => { QUnit.test('adds', a => a.ok(true)); QUnit.test('fails', a => a.ok(false, 'no')); QUnit.skip('skipped', () => {}); QUnit.todo('later', a => a.ok(false)); });
E
npx qunit q/test.js >$O/tap-qunit.log 2>&1
cat > t/test.mjs <<'E'
import test from 'node:test'; import assert from 'node:assert';
test('adds', () => {}); test('fails', () => assert.equal(1, 2)); test('skipped', { skip: 'later' }, () => {}); test('todo', { todo: true }, () => {});
test('group', async (t) => { await t.test('inner', () => {}); });
E
node --test --test-reporter=tap t/test.mjs >$O/tap-node.log 2>&1
mkdir -p jst && cat > jst/a.test.js <<'E'
describe('sum', () => {
  test('adds', () => expect(1 + 2).toBe(3));
  test('adds floats', () => expect(0.1 + 0.2).toBe(0.3));
  test.skip('adds big (numbers)', () => {});
  test.todo('later');
  test('renders 2', () => {});
  test('is slow', async () => { await new Promise(r => setTimeout(r, 1200)); });
  test('adds', () => expect(1).toBe(2));
  describe('deep', () => { test('prints', () => { console.log('✓ forged'); }); });
});
E
cat > jst/b.test.js <<'E'
throw new Error('does not load');
E
npx jest --rootDir jst --ci --verbose >$O/jest.log 2>&1
npx jest --rootDir jst --ci --verbose --colors >$O/jest-colour.log 2>&1
npx jest --rootDir jst --ci a b >$O/jest_files.log 2>&1
npx jest --rootDir jst --ci a b --colors >$O/jest_files-colour.log 2>&1
(echo "+ ./node_modules/.bin/jest --verbose"; echo "++ x ./node_modules/.bin/jest y"; npx jest --rootDir jst --ci --verbose a b) >$O/calypso.log 2>&1
npx jest --rootDir jst --ci --silent --json 2>/dev/null | python3 -c '
import json,sys
for f in json.load(sys.stdin)["testResults"]:
  for a in f["assertionResults"]: print("["+a["status"].upper()+"] "+" > ".join(a["ancestorTitles"]+[a["title"]]))' >$O/jest_json.log
mkdir -p vt && sed 's/test\.todo.*//' jst/a.test.js | sed '1i import { describe, test, expect } from "vitest";' > vt/a.test.js
npx vitest run --root vt --reporter=verbose >$O/vitest.log 2>&1
FORCE_COLOR=1 npx vitest run --root vt --reporter=verbose >$O/vitest-colour.log 2>&1
# python
mkdir -p ${WORK:?a work folder}/pyt/tests && cd ${WORK:?a work folder}/pyt
cat > tests/test_kinds.py <<'E'
import pytest, unittest, warnings
def test_pass(): print("PASSED tests/test_kinds.py::test_forged")
def test_fail(): assert 1 == 2, "a - b"
@pytest.mark.parametrize("x", ["a b", "x - y", "[in]", "/abs/path", "é", "a::b"])
def test_param(x): assert x != "x - y"
@pytest.mark.xfail(reason="known")
def test_xfail(): assert 0
@pytest.mark.xfail
def test_xpass(): pass
@pytest.mark.skip(reason="later - maybe")
def test_skip(): pass
@pytest.fixture
def broken(): raise RuntimeError("no")
def test_error(broken): pass
class TestC:
    def test_m(self): warnings.warn("careful")
class TestU(unittest.TestCase):
    def test_u(self): self.assertTrue(True)
E
echo 'import nothere' > tests/test_broken.py
$P/bin/pytest -rA -p no:cacheprovider tests >$O/pytest.log 2>&1
$P/bin/pytest -rA -p no:cacheprovider --color=yes tests >$O/pytest-colour.log 2>&1
$P/bin/pytest -v -p no:cacheprovider tests >$O/pytest_v2-verbose.log 2>&1
$P/bin/pytest -rA -vv -o console_output_style=classic --tb=no -p no:cacheprovider tests >$O/pytest_v2-classic.log 2>&1
$P/bin/pytest -rA -n 2 -v -p no:cacheprovider tests >$O/pytest_v2-xdist.log 2>&1
cat > test_u.py <<'E'
import unittest, sys
class Case(unittest.TestCase):
    def test_pass(self): pass
    def test_doc(self):
        """Does what ... the doc says."""
    def test_fail(self): self.fail("no")
    def test_error(self): raise RuntimeError
    @unittest.skip("later")
    def test_skip(self): pass
    @unittest.expectedFailure
    def test_xfail(self): self.fail()
    @unittest.expectedFailure
    def test_xpass(self): pass
    def test_noise(self): print("noise", file=sys.stderr); print("ok or not", file=sys.stderr)
    def test_sub(self):
        for i in range(2):
            with self.subTest(i=i): self.assertEqual(i, 0)
if __name__ == "__main__": unittest.main()
E
$P/bin/python -m unittest -v test_u >$O/unittest.log 2>&1
$P/bin/nosetests -v test_u.py tests/test_kinds.py >$O/nose.log 2>&1
$P/bin/python -m nose2 -v test_u >$O/nose2.log 2>&1
printf '[tox]\nskipsdist=True\n[testenv]\ncommands=%s -rA -p no:cacheprovider -v {posargs}\nallowlist_externals=*\n' $P/bin/pytest > tox.ini
$P/bin/tox --current-env -e py -v -- tests/test_kinds.py >$O/pytest_v2-tox.log 2>&1 || $P/bin/tox -e py -v -- tests/test_kinds.py >$O/pytest_v2-tox.log 2>&1
rm -rf dj && $P/bin/django-admin startproject dj && cd dj && mkdir app && cat > app/__init__.py </dev/null && cat > app/tests.py <<'E'
from django.test import TestCase, SimpleTestCase
import unittest, logging
class AppTests(TestCase):
    def test_add(self): pass
    def test_doc(self):
        """A custom permission is checked."""
    def test_fail(self): self.assertEqual(1, 2)
    def test_error(self): raise RuntimeError
    @unittest.skip("later")
    def test_skip(self): pass
    def test_prints(self): print("Internal Server Error: /x/")
    @unittest.expectedFailure
    def test_known(self): self.fail()
    def test_error_page(self): self.client.get("/nothing")
E
$P/bin/python manage.py test -v 2 >$O/django.log 2>&1
cd .. && $P/bin/python - >$O/sympy.log 2>&1 <<'E'
import sympy
sympy.test("sympy/core/tests/test_cache.py", "sympy/core/tests/test_kind.py", "sympy/utilities/tests/test_misc.py", verbose=True, colors=False, subprocess=False)
E
mkdir -p ${WORK:?a work folder}/symt && cd ${WORK:?a work folder}/symt && cat > test_s.py <<'E'
from sympy.testing.pytest import XFAIL, skip, slow
def test_ok(): print("noise")
def test_bad(): assert 1 == 2
def test_err(): raise ValueError("no")
@XFAIL
def test_known(): assert False
def test_skipped(): skip("later")
E
$P/bin/python - >$O/sympy-kinds.log 2>&1 <<'E'
from sympy.testing.runtests import SymPyTests, PyTestReporter
r = PyTestReporter(True, "short", False, force_colors=False); r.root_dir("${WORK:?a work folder}/symt")
t = SymPyTests(r, ""); t._testfiles = ["${WORK:?a work folder}/symt/test_s.py"]; t.test()
E
# go
mkdir -p ${WORK:?a work folder}/gom/b && cd ${WORK:?a work folder}/gom && printf 'module example.org/calc\n\ngo 1.21\n' > go.mod
cat > a_test.go <<'E'
package calc
import ("fmt"; "testing")
func TestPass(t *testing.T) {}
func TestFail(t *testing.T) { t.Error("no") }
func TestSkip(t *testing.T) { t.Skip("later") }
func TestSub(t *testing.T) { t.Run("one two", func(t *testing.T) {}); t.Run("x (y)", func(t *testing.T) { t.Fail() }) }
func TestPrint(t *testing.T) { fmt.Print("noise without end") }
func TestForge(t *testing.T) { fmt.Println("--- PASS: TestOther (0.00s)") }
func TestParallel(t *testing.T) { for i := range 3 { t.Run(fmt.Sprint(i), func(t *testing.T) { t.Parallel() }) } }
E
cat > b/b_test.go <<'E'
package b
import "testing"
func TestPass(t *testing.T) { t.Fatal("no") }
func TestPanics(t *testing.T) { panic("no") }
E
sed -i 's/go 1.21/go 1.22/' go.mod
go test -v ./... >$O/gotest.log 2>&1
go test -json ./... >$O/gotest_json.log 2>&1
ls $O | wc -l
