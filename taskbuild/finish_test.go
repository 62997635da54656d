package taskbuild

import "testing"

func TestTheCauseOfAFailureOfMavenIsKept(t *testing.T) {
	log := "[INFO] x\n[ERROR] Failed to execute goal: no such artifact -> [Help 1]\n[ERROR] \n[ERROR] To see the full stack trace of the errors, re-run Maven with -e\n" +
		"[ERROR] Re-run Maven using the -X switch\n[ERROR] \n[ERROR] For more information about the errors, read:\n[ERROR] [Help 1] http://cwiki.apache.org\n"
	if got := lastLines([]byte(log), 1); got != "[ERROR] Failed to execute goal: no such artifact -> [Help 1]" {
		t.Errorf("%q", got)
	}
}
