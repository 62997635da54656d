package hub

import (
	"strings"
	"testing"

	"relabel"
)

func TestPlacesAreReadAsTheHubsOwnToolsReadThem(t *testing.T) {
	for raw, want := range map[string]Place{
		"hf://org/name":                             {Repo: "org/name", Revision: "main"},
		"hf://datasets/org/name":                    {Repo: "org/name", Revision: "main"},
		"hf://org/name/":                            {Repo: "org/name", Revision: "main"},
		"hf://org/name@round-2":                     {Repo: "org/name", Revision: "round-2"},
		"hf://org/name@a%2Fb/sub/er":                {Repo: "org/name", Revision: "a/b", Path: "sub/er"},
		"hf://org/name@refs/pr/3":                   {Repo: "org/name", Revision: "refs/pr/3"},
		"hf://org/name@refs/pr/3/sub":               {Repo: "org/name", Revision: "refs/pr/3", Path: "sub"},
		"hf://org/name/sub?private=false":           {Repo: "org/name", Revision: "main", Path: "sub", Public: true},
		"hf://o.r_g/n-a.me@main?private=true":       {Repo: "o.r_g/n-a.me", Revision: "main"},
		"hf://org/name@" + strings.Repeat("a1", 20): {Repo: "org/name", Revision: strings.Repeat("a1", 20)},
	} {
		p, err := ParsePlace(raw)
		if err != nil || p != want {
			t.Errorf("%s: %+v, %v", raw, p, err)
		}
		if again, err := ParsePlace(p.String()); err != nil || again.At(p.Revision) != p.At(p.Revision) {
			t.Errorf("%s is written as %s: %+v, %v", raw, p, again, err)
		}
	}
}

func TestPlacesThatCannotBeAreRefused(t *testing.T) {
	for raw, says := range map[string]string{
		"s3://org/name":               "must be a data set of the Hugging Face Hub",
		"hf://org":                    "must be a data set of the Hugging Face Hub",
		"hf://org/na me":              "is not the name of a repository",
		"hf://org/name.git":           "is not the name of a repository",
		"hf://user:hf_token@org/name": "is not the name of a repository",
		"hf://org/name@":              "invalid revision",
		"hf://org/name@a..b":          "invalid revision",
		"hf://org/name/a/../b":        "empty, \".\" or \"..\" segments",
		"hf://org/name?token=x":       "unknown option \"token\"",
		"hf://org/name?private=maybe": "must be true or false",
	} {
		if _, err := ParsePlace(raw); relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", raw, err)
		}
	}
	p, err := ParsePlace("hf://org/name@" + strings.Repeat("0", 40))
	if err != nil || relabel.CodeOf(p.CheckWritable()) != relabel.CodeInvalid {
		t.Errorf("a commit is written to: %v", err)
	}
}
