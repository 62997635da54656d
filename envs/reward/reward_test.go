package reward_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/envs"
	"relabel/envs/docker/dockertest"
	"relabel/envs/envstest"
	"relabel/envs/reward"
)

// pack makes the archive of a folder.
func pack(t *testing.T, files map[string]string) relabel.Archive {
	t.Helper()
	var buffer bytes.Buffer
	packed := gzip.NewWriter(&buffer)
	out := tar.NewWriter(packed)
	for name, text := range files {
		if err := out.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if out.Close() != nil || packed.Close() != nil {
		t.Fatal("the archive cannot be written")
	}
	return relabel.NewArchive(buffer.Bytes())
}

// checks rewards an answer of 42 with 1, and any other with 0.25.
const checks = `#!/bin/bash
if [ "$(cat /work/answer 2>&1)" = "$ANSWER" ]; then echo 1 >/logs/verifier/reward.txt; else echo 0.25 >/logs/verifier/reward.txt; fi
`

func terminalTask(t *testing.T, script string) relabel.Task {
	return relabel.Task{Kind: relabel.Terminal, InstanceID: "a", Image: envstest.Image(t), Workdir: "/work", ProblemStatement: "Answer.",
		Terminal: &relabel.TerminalTask{Tests: pack(t, map[string]string{"test.sh": script}), Solution: pack(t, map[string]string{"solve.sh": "#!/bin/bash\necho 42 >answer\n"}),
			Env: map[string]string{"ANSWER": "42"}, TestSeconds: 20}}
}

// rewardAfter runs a script as the agent, and then the tests.
func rewardAfter(t *testing.T, task relabel.Task, agent string) relabel.Verdict {
	t.Helper()
	spec := reward.Spec(task)
	spec.Name, spec.Labels = envs.SandboxName(relabel.NewID(), 1, "rollout"), envs.Labels{Purpose: "rollout", Attempt: 1}
	sandbox, err := dockertest.NewHost(t).Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sandbox.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	result, err := sandbox.Run(t.Context(), envs.Command{Args: []string{"bash", "-c", agent}, Timeout: time.Minute})
	if err != nil || result.Exit != 0 {
		t.Fatalf("the agent: %v, exit %d: %s", err, result.Exit, result.Output)
	}
	outcome, err := reward.Run(t.Context(), sandbox, *task.Terminal, relabel.PaperLimits)
	if err != nil {
		t.Fatal(err)
	}
	submission, err := outcome.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return reward.Grade(submission)
}

func TestTheStateOfAContainerIsRewarded(t *testing.T) {
	for name, c := range map[string]struct {
		script, agent string
		want          float64
		reason        relabel.VerdictReason
	}{
		"right":              {checks, "echo 42 >answer", 1, relabel.VerdictTestsPassed},
		"wrong":              {checks, "echo 41 >answer", 0.25, relabel.VerdictReward},
		"several rewards":    {`echo '{"reward": 0.5, "speed": 7}' >/logs/verifier/reward.json; echo 1 >/logs/verifier/reward.txt`, "true", 0.5, relabel.VerdictReward},
		"none":               {"echo done", "true", 0, relabel.VerdictNoReward},
		"null":               {"echo null >/logs/verifier/reward.json", "true", 0, relabel.VerdictNoReward},
		"above 1":            {"echo 3 >/logs/verifier/reward.txt", "true", 0, relabel.VerdictNoReward},
		"too slow":           {"sleep 100", "true", 0, relabel.VerdictTimedOut},
		"an exit code":       {"echo 1 >/logs/verifier/reward.txt; exit 7", "true", 1, relabel.VerdictTestsPassed},
		"no folder to start": {checks, "rm -rf /work", 0, relabel.VerdictNoReward},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task := terminalTask(t, c.script)
			if name == "too slow" {
				task.Terminal.TestSeconds = 2
			}
			v := rewardAfter(t, task, c.agent)
			if v.Score == nil || *v.Score != c.want || v.Reason != c.reason || v.Passed != (c.want == 1) || v.Infra != "" {
				t.Errorf("%+v\n%s", v, v.Output)
			}
		})
	}
}

// forgeries are what an agent may leave behind to be rewarded without an answer.
var forgeries = map[string]struct {
	agent  string
	reason relabel.VerdictReason
}{
	"a reward file":        {"mkdir -p /logs/verifier; echo 1 >/logs/verifier/reward.txt; echo 1 >/logs/verifier/reward.json", relabel.VerdictReward},
	"tests of its own":     {"mkdir -p /tests; printf '#!/bin/bash\necho 1 >/logs/verifier/reward.txt\n' >/tests/test.sh; chmod 555 /tests", relabel.VerdictReward},
	"links":                {"mkdir -p /elsewhere; ln -s /elsewhere /logs; ln -s /elsewhere /tests", relabel.VerdictReward},
	"a process that waits": {"(setsid bash -c 'while sleep 0.05; do [ ! -e /tests ] || { echo 1 >/logs/verifier/reward.json; echo 42 >/work/answer; }; done' >/dev/null 2>&1 &)", relabel.VerdictReward},
	"a preloaded library":  {"echo /tmp/x.so >/etc/ld.so.preload; rm -f /etc/ld.so.preload.x", relabel.VerdictTampered},
	"another cat":          {"printf '#!/bin/bash\necho 42\n' >/usr/local/bin/cat; chmod +x /usr/local/bin/cat", relabel.VerdictTampered},
	"links for programs":   {"mkdir /tmp/p; cp -a /usr/bin/. /tmp/p; printf '#!/usr/bin/bash\necho 1 >/logs/verifier/reward.txt\n' >/tmp/b; chmod +x /tmp/b; rm /tmp/p/bash; mv /tmp/b /tmp/p/bash; ln -sfn /tmp/p /bin", relabel.VerdictTampered},
	"another bash":         {"cp /bin/bash /bin/bash.real; printf '#!/bin/bash.real\necho 1 >/logs/verifier/reward.txt\n' >/tmp/b; mv /tmp/b /bin/bash; chmod +x /bin/bash", relabel.VerdictTampered},
	"settings of shells":   {"echo 'echo 42 >/work/answer' | tee ~/.bashrc ~/.profile ~/.bash_profile >/etc/profile.d/x.sh", relabel.VerdictReward},
}

func TestForgedRewardsDoNotCount(t *testing.T) {
	for name, f := range forgeries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := rewardAfter(t, terminalTask(t, checks), f.agent)
			if v.Score == nil || *v.Score == 1 || v.Passed || v.Reason != f.reason {
				t.Errorf("%+v\n%s", v, v.Output)
			}
		})
	}
}

func TestProgramsInFoldersOfThePathAreProtected(t *testing.T) {
	task := terminalTask(t, checks)
	task.Terminal.Env["PATH"] = "/opt/tools/bin:/usr/local/bin:/usr/bin:/bin"
	const agent = "mkdir -p /opt/tools/bin; printf '#!/bin/bash\necho 42\n' >/opt/tools/bin/cat; chmod +x /opt/tools/bin/cat"
	if v := rewardAfter(t, task, agent); v.Passed || v.Reason != relabel.VerdictTampered {
		t.Errorf("%+v\n%s", v, v.Output)
	}
}

func TestChangedProgramsOfTheSystemAreTold(t *testing.T) {
	v := rewardAfter(t, terminalTask(t, checks), "echo 42 >answer; echo '#' >>/usr/lib/python3/dist-packages/_pytest/runner.py; echo x >/usr/local/bin/tool")
	if !v.Passed || v.AlteredCount != 2 || !slices.Contains(v.Altered, "/usr/lib/python3/dist-packages/_pytest/runner.py") || !slices.Contains(v.Altered, "/usr/local/bin/tool") {
		t.Errorf("%+v", v)
	}
}

func TestASolutionMustHaveTheReward(t *testing.T) {
	host := dockertest.NewHost(t)
	for name, c := range map[string]struct {
		change func(*relabel.Task)
		want   string
	}{
		"sound":       {func(*relabel.Task) {}, ""},
		"no solution": {func(task *relabel.Task) { task.Terminal.Solution = relabel.Archive{} }, "it has no solution"},
		"a bad one":   {func(task *relabel.Task) { task.Terminal.Env = map[string]string{"ANSWER": "43"} }, "its solution does not have reward 1: 0.25 (reward)"},
		"nothing to do": {func(task *relabel.Task) {
			task.Terminal.Tests = pack(t, map[string]string{"test.sh": "echo 1 >/logs/verifier/reward.txt"})
		}, "it has reward 1 without any work"},
		"a missing image": {func(task *relabel.Task) { task.Image = relabel.LocalImages + "no-such-image:1" }, "build it on the engine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task := terminalTask(t, checks)
			c.change(&task)
			r, err := reward.Validate(t.Context(), host, task, relabel.PaperLimits, 1)
			if err != nil || !strings.Contains(r.Problem, c.want) || (c.want == "") != r.Sound() {
				t.Errorf("%v, %q", err, r.Problem)
			}
		})
	}
}
