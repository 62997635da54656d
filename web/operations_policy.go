package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"relabel/api"
)

// createPolicy registers an endpoint, or a new version of a policy.
func (v *viewer) createPolicy(r *http.Request, chosen url.Values) (operation, error) {
	var names, tokenizers []string
	l := load{ctx: r.Context()}
	read(&l, &names, v.policyNames, offeredNames)
	read(&l, &tokenizers, v.tokenizerNames, offeredNames)
	var unversioned []string
	for _, name := range names {
		if name, _, _ = strings.Cut(name, "@"); !slices.Contains(unversioned, name) {
			unversioned = append(unversioned, name)
		}
	}
	body, f := api.NewPolicy{}, form{chosen: chosen}
	err := cmp.Or(l.err, f.read(&body))
	return operation{Title: "Register a policy", Verb: "Register", Back: "/policies", Done: madeAt("/policies/"),
		Notes:  []string{"A name that is taken gets a new version; earlier versions are kept.", "API keys stay in the environment of the workers: only the name of the secret is stored."},
		Fields: f.fields(body, map[string]func(*operationField){"name": with(unversioned, ""), "tokenizer": with(tokenizers, "")}),
		Call:   call{http.MethodPost, "/v1/policies", body}}, err
}
