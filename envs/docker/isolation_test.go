package docker_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/google/uuid"

	"relabel"
	"relabel/envs"
	"relabel/envs/docker"
	"relabel/envs/docker/dockertest"
	"relabel/envs/envstest"
)

// smallLimits leave room for what the tests do to them.
var smallLimits = envs.Limits{MemoryBytes: 256 << 20, CPUs: 1.5, PIDs: 100, DiskBytes: 64 << 20}

func newSpec(t testing.TB) envs.Spec {
	t.Helper()
	id := uuid.NewString()
	return envs.Spec{
		Name: "relabel-" + id + "-3-rollout", Image: envstest.Image(t), Workdir: envstest.Workdir, Limits: smallLimits,
		Labels: envs.Labels{Trajectory: id, Attempt: 3, Purpose: "rollout", Deadline: time.Date(2100, 1, 2, 3, 4, 5, 0, time.UTC)},
	}
}

func start(t testing.TB, host *docker.Host, spec envs.Spec) envs.Sandbox {
	t.Helper()
	sandbox, err := host.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sandbox.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return sandbox
}

func engineOf(t testing.TB) *client.Client {
	t.Helper()
	engine, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	return engine
}

func inspect(t testing.TB, engine *client.Client, id string) container.InspectResponse {
	t.Helper()
	found, err := engine.ContainerInspect(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// bash runs a script in a sandbox and returns its output and exit code.
func bash(t testing.TB, sandbox envs.Sandbox, script string) (string, int) {
	t.Helper()
	result, err := sandbox.Run(t.Context(), envs.Command{Args: []string{"bash", "-c", script}, Timeout: 3 * time.Minute})
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	if result.Ended != envs.EndedExit {
		t.Fatalf("%s: ended by %s after %q", script, result.Ended, result.Output)
	}
	return strings.TrimSpace(string(result.Output)), result.Exit
}

// sandboxdsOwn are the capabilities that sandboxd takes from every command.
var sandboxdsOwn = []string{"DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "KILL", "SETGID", "SETPCAP", "SETUID"}

// withoutPrefix returns capabilities in order, without the prefix that some engines give them.
func withoutPrefix(capabilities []string) (names []string) {
	for _, c := range capabilities {
		names = append(names, strings.TrimPrefix(c, "CAP_"))
	}
	slices.Sort(names)
	return names
}

func TestContainerIsWalledInByInspect(t *testing.T) {
	t.Parallel()
	host, spec := dockertest.NewHost(t), newSpec(t)
	found := inspect(t, engineOf(t), start(t, host, spec).ID())
	h := found.HostConfig
	for what, ok := range map[string]bool{
		"no network":                 h.NetworkMode == "none" && found.Config.NetworkDisabled && len(h.PortBindings) == 0,
		"capabilities of sandboxd":   len(h.CapDrop) == 1 && h.CapDrop[0] == "ALL" && slices.Equal(withoutPrefix(h.CapAdd), sandboxdsOwn) && !h.Privileged,
		"no new privileges":          len(h.SecurityOpt) == 2 && h.SecurityOpt[0] == "no-new-privileges",
		"a seccomp profile of ours":  strings.HasPrefix(h.SecurityOpt[1], `seccomp={"defaultAction":"SCMP_ACT_ERRNO"`),
		"one file system in memory":  len(h.Tmpfs) == 1 && strings.Contains(h.Tmpfs["/relabel"], "mode=0700"),
		"process limit":              h.PidsLimit != nil && *h.PidsLimit == 100,
		"memory without swap":        h.Memory == 256<<20 && h.MemorySwap == h.Memory,
		"CPU limit":                  h.NanoCPUs == 1.5e9,
		"no log":                     h.LogConfig.Type == "none",
		"no binds, mounts, devices":  len(h.Binds)+len(h.Mounts)+len(found.Mounts)+len(h.Devices)+len(h.VolumesFrom)+len(h.DeviceRequests) == 0,
		"no host namespaces":         h.PidMode == "" && h.IpcMode == "private" && h.UTSMode == "" && h.UsernsMode == "" && h.CgroupnsMode == "private",
		"no restart":                 h.RestartPolicy.Name == "" || h.RestartPolicy.Name == "no",
		"it goes with its sandboxd":  h.AutoRemove,
		"one file is bounded":        len(h.Ulimits) == 2 && h.Ulimits[0].Name == "fsize" && h.Ulimits[0].Hard == 64<<20,
		"deterministic name":         found.Name == "/"+spec.Name,
		"masked and read-only paths": slices.Contains(h.MaskedPaths, "/proc/kallsyms") && slices.Contains(h.MaskedPaths, "/proc/kcore") && len(h.ReadonlyPaths) > 0,
	} {
		if !ok {
			t.Errorf("%s: not so: %+v", what, h)
		}
	}
	for label, want := range map[string]string{
		"relabel.trajectory": spec.Labels.Trajectory, "relabel.attempt": "3", "relabel.purpose": "rollout", "relabel.deadline": "2100-01-02T03:04:05Z",
	} {
		if got := found.Config.Labels[label]; got != want {
			t.Errorf("label %s is %q, want %q", label, got, want)
		}
	}
	if found.Config.Labels["relabel.instance"] == "" {
		t.Error("no instance label")
	}
}

// settled waits until sandboxd has hidden itself again after the start of a command.
const settled = `until [ "$(stat -c %u /proc/1/oom_score_adj)" = 63271 ]; do sleep 0.01; done; `

// deniedCalls prints what io_uring_setup, userfaultfd, bpf, add_key, keyctl and perf_event_open
// return, and errno: the seccomp profile refuses them with EPERM.
const deniedCalls = `
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
calls = [425, 323, 321, 248, 250, 298] if platform.machine() == "x86_64" else [425, 282, 280, 217, 219, 241]
for call in calls: print(libc.syscall(call, 1, 0, 0, 0, 0), ctypes.get_errno())`

func TestContainerIsWalledInFromInside(t *testing.T) {
	t.Parallel()
	sandbox := start(t, dockertest.NewHost(t), newSpec(t))
	for what, c := range map[string]struct{ script, want string }{
		"capability sets are zero":         {`sed -n 's/^Cap...:\t//p' /proc/self/status | sort -u`, "0000000000000000"},
		"no new privileges":                {`sed -n 's/^NoNewPrivs:\t//p' /proc/self/status`, "1"},
		"seccomp filters":                  {`sed -n 's/^Seccomp:\t//p' /proc/self/status`, "2"},
		"only loopback":                    {`ls /sys/class/net`, "lo"},
		"the metadata address":             {`(exec 3<>/dev/tcp/169.254.169.254/80) 2>/dev/null && echo reached || echo unreachable`, "unreachable"},
		"mounting":                         {`mount -t tmpfs none /mnt 2>/dev/null && echo mounted || echo denied`, "denied"},
		"a namespace of its own":           {`unshare -U true 2>/dev/null && echo made || echo denied`, "denied"},
		"raw sockets":                      {`python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)' 2>&1 | tail -n 1`, "PermissionError: [Errno 1] Operation not permitted"},
		"packet sockets":                   {`python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)' 2>&1 | tail -n 1`, "PermissionError: [Errno 1] Operation not permitted"},
		"the engine's socket":              {`find / -xdev -name 'docker*.sock' 2>/dev/null; ls /run/docker* /var/run/docker* 2>/dev/null; true`, ""},
		"setuid gives nothing":             {`cp /bin/cat /tmp/c; chmod 4755 /tmp/c; /tmp/c /proc/self/status | sed -n 's/^CapEff:\t//p'`, "0000000000000000"},
		"devices":                          {`mknod /tmp/disk b 8 0 2>/dev/null && echo made || echo denied`, "denied"},
		"the kernel's settings":            {`(echo x >/proc/sys/kernel/core_pattern) 2>/dev/null && echo written || echo denied`, "denied"},
		"sysrq":                            {`(echo h >/proc/sysrq-trigger) 2>/dev/null && echo written || echo denied`, "denied"},
		"sandboxd is another user":         {`stat -c %u /proc/1; id -u`, "63271\n0"},
		"another's memory and files":       {`cat /proc/1/mem /proc/1/environ 2>/dev/null; (echo x >/proc/1/fd/1) 2>/dev/null && echo written || echo denied`, "denied"},
		"files of process 1":               {settled + `cat /proc/1/fd/* /proc/1/maps 2>/dev/null | head -c 100; ls -d /proc/1/cwd/* /proc/1/root/* 2>/dev/null; find /proc/1/ -maxdepth 3 -path /proc/1/net -prune -o -user 0 -print 2>/dev/null | head -n 3`, ""},
		"limits of process 1":              {`for r in nofile nproc fsize data as; do for p in /proc/1/task/*; do prlimit --pid ${p##*/} --$r=0:0 2>/dev/null && echo limited $r; done; done; true`, ""},
		"process 1 in want of memory":      {settled + `(echo 1000 >/proc/1/oom_score_adj) 2>/dev/null && echo written || echo denied`, "denied"},
		"priority of process 1":            {`python3 -c 'import os; os.setpriority(os.PRIO_PROCESS, 1, 19)' 2>&1 | tail -n 1 | cut -d: -f1; taskset -p 1 1 >/dev/null 2>&1 && echo set || echo denied`, "PermissionError\ndenied"},
		"sandboxd's own folder":            {`exec 2>/dev/null; ls /relabel; mv /relabel /moved; rmdir /relabel; umount /relabel; chmod 777 /relabel; echo x >/relabel/x; mount -o remount,size=1 /relabel; stat -c '%u %a' /relabel`, "63271 700"},
		"the commands' own memory killing": {`until [ $(cat /proc/self/oom_score_adj) = 1000 ]; do sleep 0.01; done; echo 1000`, "1000"},
		"tracing process 1":                {`python3 -c 'import ctypes; print(ctypes.CDLL(None).ptrace(16, 1, 0, 0))'`, "-1"},
		"the cgroup":                       {`find /sys/fs/cgroup -maxdepth 2 -name 'pids.max' -exec sh -c 'echo max >$0' {} \; 2>&1 | grep -c -v 'Read-only\|denied\|nonexistent'; true`, "0"},
		"no cgroup of the host's is named": {`cut -d: -f3 /proc/1/cgroup | sort -u`, "/"},
		"no secret of ours":                {`env | grep -i -E 'key|token|secret|password|DOCKER|RELABEL|DATABASE' | grep -v ^GIT_CONFIG_KEY_0; true`, ""},
		"only the init process is there":   {`cat /proc/1/comm; set -- /proc/[0-9]*; echo $#`, "sandboxd\n2"},
		"it cannot be signalled":           {`for p in /proc/1/task/*; do for s in KILL STOP TERM INT HUP QUIT ABRT SEGV USR1 PIPE; do kill -$s ${p##*/} 2>/dev/null && echo $s; done; done; true`, ""},
		"the kernel's symbols":             {`cat /proc/kallsyms | wc -c`, "0"},
		"fallocate":                        {`python3 -c 'import ctypes; c = ctypes.CDLL(None, use_errno=True); print(c.fallocate(1, 0, ctypes.c_long(0), ctypes.c_long(1)), ctypes.get_errno())'`, "-1 95"},
		"io_uring, userfaultfd, bpf, keys": {`python3 -c '` + deniedCalls + `'`, "-1 1\n-1 1\n-1 1\n-1 1\n-1 1\n-1 1"},
		"virtual machine sockets":          {`python3 -c 'import socket; socket.socket(40, socket.SOCK_STREAM)' 2>&1 | tail -n 1`, "PermissionError: [Errno 1] Operation not permitted"},
		"kernel crypto sockets":            {`python3 -c 'import socket; socket.socket(38, socket.SOCK_SEQPACKET)' 2>&1 | tail -n 1`, "PermissionError: [Errno 1] Operation not permitted"},
		"other sockets":                    {`python3 -c 'import socket; socket.socketpair(); socket.socket(socket.AF_INET6); socket.socket(socket.AF_NETLINK, socket.SOCK_RAW); print("open")'`, "open"},
		"its output by name":               {`echo out >/dev/stdout; echo err >/dev/stderr`, "out\nerr"},
	} {
		t.Run(what, func(t *testing.T) {
			if got, _ := bash(t, sandbox, c.script); got != c.want {
				t.Errorf("%s: got %q, want %q", c.script, got, c.want)
			}
		})
	}
}

func TestStopsByTheAgentOfEverythingLeaveTheSandboxWorking(t *testing.T) {
	t.Parallel()
	sandbox := start(t, dockertest.NewHost(t), newSpec(t))
	if got, exit := bash(t, sandbox, "exec 2>/dev/null; sleep 1000 & kill -9 -1; wait; echo on"); got != "on" || exit != 0 {
		t.Errorf("%q, exit %d", got, exit)
	}
	if got, _ := bash(t, sandbox, "exec 2>/dev/null; sleep 1000 & kill $!; wait $!; echo $?"); got != "143" {
		t.Errorf("a command ended by SIGTERM: %q", got)
	}
	if got, _ := bash(t, sandbox, `(sleep 0.2 & echo $!; sleep 0.1 & echo $!) >orphans; while for p in $(cat orphans); do [ -e /proc/$p ] && break; done; do sleep 0.1; done; echo none`); got != "none" {
		t.Errorf("orphans were not taken in: %s", got)
	}
}

func TestLocalhostHasItsNameInASandbox(t *testing.T) {
	t.Parallel()
	sandbox := start(t, dockertest.NewHost(t), newSpec(t))
	const serve = `import socket; s = socket.create_server(("localhost", 0)); socket.create_connection(("localhost", s.getsockname()[1]))`
	r, err := sandbox.Run(t.Context(), envs.Command{Args: []string{"python3", "-c", serve}})
	if err != nil || r.Exit != 0 {
		t.Errorf("a server on localhost: %v, exit code %d\n%s", err, r.Exit, r.Output)
	}
}

func TestRuntimeThatIsAskedForAndMissingIsRefused(t *testing.T) {
	t.Parallel()
	spec := newSpec(t)
	spec.Limits.Runtime = "runsc-of-nowhere"
	_, err := dockertest.NewHost(t).Create(t.Context(), spec)
	if relabel.CodeOf(err) != relabel.CodeEnvironment || !strings.Contains(err.Error(), `no runtime "runsc-of-nowhere"`) {
		t.Errorf("got %v", err)
	}
}
