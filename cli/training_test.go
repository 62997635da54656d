package cli

import (
	"errors"
	"strings"
	"testing"

	"relabel"
)

func TestExportsOfTrainingAreReadWithTheirEpochs(t *testing.T) {
	const a, b = "01000000-0000-0000-0000-000000000000", "02000000-0000-0000-0000-000000000000"
	for flags, want := range map[string]string{
		"--trained-on " + a + "=2.5," + b + " --epochs 3": "2.5 3",
		"--trained-on " + a + " --trained-on " + b + "=1": "none 1",
		"--trained-on " + a + "=0":                        "--trained-on.epochs",
		"--trained-on " + a + "=x":                        "--trained-on",
		"--trained-on student":                            "--trained-on",
		"--epochs 3":                                      "--epochs",
	} {
		var c testCommands
		if _, err := parserOf(t, &c).Parse(strings.Fields("policy add student --base-url http://host/v1 --model m " + flags)); err != nil {
			t.Errorf("%s: %v", flags, err)
			continue
		}
		all, err := c.Policy.Add.trained()
		got := ""
		for _, on := range all {
			word := "none"
			if on.Epochs != nil {
				word = numberText(*on.Epochs)
			}
			got = strings.TrimSpace(got + " " + word)
		}
		if e, refused := errors.AsType[*relabel.Error](err); refused {
			got = e.Field
		}
		if got != want {
			t.Errorf("%s: %q, not %q", flags, got, want)
		}
	}
}
