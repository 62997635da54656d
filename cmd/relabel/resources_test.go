package main

import (
	"slices"
	"testing"

	"relabel/cli"
)

// TestEveryCommandReadsTheEnvironmentAlike compares what serve reads with what a
// command that serves only itself reads.
func TestEveryCommandReadsTheEnvironmentAlike(t *testing.T) {
	t.Setenv("RELABEL_ALLOW_ADDRESS", "10.0.0.0/8, 192.168.0.0/16 ,")
	t.Setenv("RELABEL_DESTINATION_ENDPOINT", " https://s3.example.org")
	for value, want := range map[string]bool{"1": true, "yes": true, "true": true, "0": false, "no": false, "false": false} {
		t.Setenv("RELABEL_CLOUD_CREDENTIALS", value)
		alone, err := cli.EnvironmentResources()
		noError(t, err)
		var c commands
		parser, err := cli.NewParser(&c, "", "")
		noError(t, err)
		_, err = parser.Parse([]string{"serve"})
		noError(t, err)
		for name, f := range map[string]cli.ResourceFlags{"a command": alone, "serve": c.Serve.ResourceFlags} {
			if f.CloudCredentials != want || !slices.Equal(f.AllowAddress, []string{"10.0.0.0/8", "192.168.0.0/16"}) || !slices.Equal(f.DestinationEndpoint, []string{"https://s3.example.org"}) {
				t.Errorf("%s, %s: %+v", name, value, f)
			}
		}
		noError(t, checkResources(alone))
	}
	t.Setenv("RELABEL_CLOUD_CREDENTIALS", "perhaps")
	if _, err := cli.EnvironmentResources(); err == nil {
		t.Error("a value that is neither true nor false is taken")
	}
}
