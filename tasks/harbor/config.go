package harbor

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"relabel"
)

// config is what is read of a task.toml, schema 1.0 to 1.4. Other fields are counted as unused.
type config struct {
	SchemaVersion string `toml:"schema_version"`
	Version       any    `toml:"version"` // the old name
	Task          struct {
		Name string `toml:"name"`
	} `toml:"task"`
	Steps    []map[string]any `toml:"steps"`
	Agent    agent            `toml:"agent"`
	Verifier verifier         `toml:"verifier"`
	Solution struct {
		Env map[string]string `toml:"env"`
	} `toml:"solution"`
	Environment environment `toml:"environment"`
}

type agent struct {
	User        any    `toml:"user"`
	NetworkMode string `toml:"network_mode"`
}

type verifier struct {
	TimeoutSec      float64           `toml:"timeout_sec"`
	Env             map[string]string `toml:"env"`
	User            any               `toml:"user"`
	NetworkMode     string            `toml:"network_mode"`
	EnvironmentMode string            `toml:"environment_mode"`
	Environment     map[string]any    `toml:"environment"`
	Collect         []map[string]any  `toml:"collect"`
}

type environment struct {
	DockerImage   string            `toml:"docker_image"`
	OS            string            `toml:"os"`
	CPUs          float64           `toml:"cpus"`
	MemoryMB      int64             `toml:"memory_mb"`
	Memory        string            `toml:"memory"` // an old field, such as 2G
	StorageMB     int64             `toml:"storage_mb"`
	Storage       string            `toml:"storage"`
	GPUs          int               `toml:"gpus"`
	GPUTypes      []string          `toml:"gpu_types"`
	TPU           map[string]any    `toml:"tpu"`
	MCPServers    []map[string]any  `toml:"mcp_servers"`
	Env           map[string]string `toml:"env"`
	Healthcheck   map[string]any    `toml:"healthcheck"`
	Workdir       string            `toml:"workdir"`
	NetworkMode   string            `toml:"network_mode"`
	AllowInternet *bool             `toml:"allow_internet"` // an old field
}

// defaultTestSeconds is Harbor's default of verifier.timeout_sec.
const defaultTestSeconds = 600

// harmless are fields that change nothing here and are not worth a line of the report.
var harmless = []string{"metadata", "source", "task", "schema_version", "version", "environment.build_timeout_sec"}

// decode reads a task.toml and lists the fields that are not used.
func decode(text string) (c config, unused []string, err error) {
	c.Verifier.TimeoutSec = defaultTestSeconds
	meta, err := toml.Decode(text, &c)
	if err != nil {
		return c, nil, fmt.Errorf("is not TOML of a task: %w", err)
	}
	for _, key := range meta.Undecoded() {
		if name := key.String(); !slices.ContainsFunc(harmless, func(h string) bool { return name == h || strings.HasPrefix(name, h+".") }) {
			unused = append(unused, name)
		}
	}
	return c, unused, nil
}

// unsupported returns the first field whose value asks for what relabel does not have, with the reason; "" if there
// is none.
func (c config) unsupported() (field, reason string) {
	e := c.Environment
	for _, f := range []struct {
		field string
		asked bool
		why   string
	}{
		{"steps", len(c.Steps) > 0, "tasks of several steps are not supported"},
		{"environment.os", e.OS != "" && !strings.EqualFold(e.OS, "linux"), "only linux is supported"},
		{"environment.gpus", e.GPUs > 0 || len(e.GPUTypes) > 0, "sandboxes have no GPU"},
		{"environment.tpu", len(e.TPU) > 0, "sandboxes have no TPU"},
		{"environment.mcp_servers", len(e.MCPServers) > 0, "the scaffold has no MCP servers"},
		{"environment.healthcheck", len(e.Healthcheck) > 0, "nothing is started with a sandbox that could be checked"},
		{"agent.user", c.Agent.User != nil, "commands run as the image's user"},
		{"verifier.user", c.Verifier.User != nil, "commands run as the image's user"},
		{"verifier.environment", len(c.Verifier.Environment) > 0, "tests run in the container of the agent"},
		{"verifier.environment_mode", c.Verifier.EnvironmentMode != "" && c.Verifier.EnvironmentMode != "shared", "tests run in the container of the agent"},
		{"verifier.collect", len(c.Verifier.Collect) > 0, "tests run in the container of the agent, and nothing is collected before"},
	} {
		if f.asked {
			return f.field, f.why
		}
	}
	return "", ""
}

// network reports whether the maker of the task allows a network, which is Harbor's default.
func (c config) network() bool {
	modes := []string{c.Environment.NetworkMode, c.Agent.NetworkMode, c.Verifier.NetworkMode}
	if c.Environment.NetworkMode == "" && c.Environment.AllowInternet != nil && !*c.Environment.AllowInternet {
		modes[0] = "no-network"
	}
	if modes[0] == "" {
		modes[0] = "public"
	}
	return slices.ContainsFunc(modes, func(m string) bool { return m != "" && m != "no-network" })
}

// settings are those of the sandbox. The error names the field.
func (c config) settings() (t relabel.TerminalTask, err error) {
	e := c.Environment
	if e.CPUs < 0 || e.MemoryMB < 0 || e.StorageMB < 0 || !(c.Verifier.TimeoutSec > 0) || c.Verifier.TimeoutSec > math.MaxInt32 {
		return t, fmt.Errorf("cpus, memory_mb, storage_mb or verifier.timeout_sec is negative, or no time")
	}
	t = relabel.TerminalTask{CPUs: e.CPUs, TestSeconds: int(math.Ceil(c.Verifier.TimeoutSec)), Network: c.network()}
	if t.MemoryBytes, err = size("environment.memory", e.Memory, e.MemoryMB); err != nil {
		return t, err
	}
	if t.DiskBytes, err = size("environment.storage", e.Storage, e.StorageMB); err != nil {
		return t, err
	}
	for _, env := range []struct {
		field string
		from  map[string]string
		to    *map[string]string
	}{{"environment.env", e.Env, &t.Env}, {"verifier.env", c.Verifier.Env, &t.TestEnv}, {"solution.env", c.Solution.Env, &t.SolutionEnv}} {
		if *env.to, err = resolve(env.field, env.from); err != nil {
			return t, err
		}
	}
	return t, nil
}

// size is a number of MiB, or an old text such as 2G, in bytes.
func size(field, text string, mb int64) (int64, error) {
	if text == "" {
		return mb << 20, nil
	}
	text = strings.ToUpper(strings.TrimSpace(text))
	unit, known := map[byte]float64{'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30}[text[len(text)-1]]
	number, err := strconv.ParseFloat(text[:len(text)-1], 64)
	if !known || err != nil || !(number > 0) || number > 1<<20 {
		return 0, fmt.Errorf("%s: %q is not a size such as 512M or 2G", field, text)
	}
	return int64(number * unit), nil
}

// template is ${NAME} or ${NAME:-default} in the value of an environment variable.
var template = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

// resolve replaces templates by their defaults. One without a default asks for a variable of the machine that runs
// the task, such as the key of an API, which no sandbox gets.
func resolve(field string, from map[string]string) (map[string]string, error) {
	if len(from) == 0 {
		return nil, nil
	}
	to := make(map[string]string, len(from))
	for _, name := range slices.Sorted(maps.Keys(from)) {
		for _, m := range template.FindAllStringSubmatch(from[name], -1) {
			if m[2] == "" {
				return nil, fmt.Errorf("%s: %s asks for the variable %s of the machine that runs the task, which no sandbox gets: give it a default", field, name, m[1])
			}
		}
		to[name] = template.ReplaceAllString(from[name], "$3")
	}
	return to, nil
}
