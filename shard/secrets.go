package shard

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"relabel"
	"relabel/secretscan"
)

// mostSecrets bounds the secrets that a manifest lists one by one.
const mostSecrets = 20

// placedSecret is a secret in the text of a trajectory.
type placedSecret struct {
	relabel.FoundSecret
	inStates bool // whether the states after its turn have it
	inLabel  bool // whether the label of its turn has it
}

// isAt reports whether the state or the label of a turn has the secret.
func (s placedSecret) isAt(t int) bool { return s.inLabel && t == s.Turn || s.inStates && t > s.Turn }

// secretsOf finds the secrets in the texts of a trajectory that an export may have.
func (b *selector) secretsOf(tr relabel.ExportTrajectory) (found []placedSecret) {
	if b.scan == nil {
		return nil
	}
	add := func(t int, in relabel.SecretPlace, inStates, inLabel bool, texts ...string) {
		for _, text := range texts {
			for _, f := range b.scan.Find(text) {
				found = append(found, placedSecret{relabel.FoundSecret{Trajectory: tr.Trajectory.ID.String(), Turn: t, In: in, Rule: f.Rule, Excerpt: f.Excerpt}, inStates, inLabel})
			}
		}
	}
	for _, m := range b.opening(tr) {
		add(0, relabel.SecretInPrompt, true, false, m.Content)
	}
	for _, tool := range b.tools(tr) {
		add(0, relabel.SecretInPrompt, true, false, tool.Name, tool.Description, unescaped(tool.Parameters))
	}
	for _, turn := range tr.Turns {
		both := turn.Label != nil && executedByTeacher(turn) // one text
		add(turn.T, relabel.SecretInAction, true, both, b.textsOf(turn.Action.Message)...)
		for _, o := range turn.Observations {
			add(turn.T, relabel.SecretInObservation, true, false, o.Content)
		}
		if turn.Label != nil && !both {
			add(turn.T, relabel.SecretInLabel, false, true, b.textsOf(turn.Label.Message)...)
		}
	}
	return found
}

// textsOf lists the texts of an action that are exported.
func (b *selector) textsOf(m relabel.Message) []string {
	texts := []string{m.Content}
	if b.form.Reasoning != relabel.ReasoningDrop {
		texts = append(texts, m.ReasoningContent)
	}
	for _, c := range m.ToolCalls {
		texts = append(texts, c.Name, unescaped(c.Arguments))
	}
	return texts
}

// escaped matches the escape of a printable character of ASCII in JSON, which needs none.
var escaped = regexp.MustCompile(`\\u00[2-7][0-9A-Fa-f]`)

// unescaped returns arguments as templates and tools see them as far as secrets are concerned: without needless escapes.
func unescaped(arguments string) string {
	return escaped.ReplaceAllStringFunc(arguments, func(text string) string {
		code, err := strconv.ParseUint(text[2:], 16, 8)
		if err != nil || code == '"' || code == '\\' || code == 0x7f {
			return text
		}
		return string(rune(code))
	})
}

// excludeSecret returns why the state of a turn is excluded if the form asks to exclude secrets, with their rule, or "".
func (b *selector) excludeSecret(l *labelled, t int) (reason Reason, detail string) {
	if !b.form.ExcludeSecrets {
		return "", ""
	}
	for _, s := range l.secrets {
		if b.exports(s, t) {
			return HasSecret, s.Rule
		}
	}
	return "", ""
}

// exports reports whether the rows of the state of turn t have a secret. Those of the preference view have the
// executed action too.
func (b *selector) exports(s placedSecret, t int) bool {
	executed := s.In == relabel.SecretInAction && s.Turn == t && slices.Contains(b.form.Views, relabel.ViewPreference)
	return s.isAt(t) || executed
}

// addSecrets counts the secrets of a trajectory that its exported states and labels have.
func (s *summary) addSecrets(b *selector, l *labelled) {
	for _, secret := range l.secrets {
		exported := false
		for t := range l.keep {
			exported = exported || b.exports(secret, t)
		}
		if exported {
			s.mergeSecrets(relabel.ManifestSecrets{Found: map[string]int{secret.Rule: 1}, First: []relabel.FoundSecret{secret.FoundSecret}})
		}
	}
}

// mergeSecrets adds what was found in a later trajectory or part.
func (s *summary) mergeSecrets(next relabel.ManifestSecrets) {
	if s.Secrets.Found == nil {
		s.Secrets = relabel.ManifestSecrets{Rules: secretscan.Version, Found: map[string]int{}, First: []relabel.FoundSecret{}}
	}
	for rule, n := range next.Found {
		s.Secrets.Found[rule] += n
	}
	s.Secrets.First = append(s.Secrets.First, next.First[:min(len(next.First), mostSecrets-len(s.Secrets.First))]...)
}

// unscanned stands, among the rules that a push allows, for an export whose text was not scanned.
const unscanned = "unscanned"

// checkAllowed returns CodeInvalid if one of the rules that a push allows does not exist.
func checkAllowed(rules []string) error {
	for i, rule := range rules {
		if !slices.Contains(secretscan.Names(), rule) && rule != unscanned {
			return relabel.Errorf(relabel.CodeInvalid, "there is no such rule of secrets: %s, or %s", strings.Join(secretscan.Names(), ", "), unscanned).On(fmt.Sprintf("allow_secrets[%d]", i))
		}
	}
	return nil
}

// checkSecrets returns CodeConflict if the exported text has a secret of relabel's own processes, which leaves nowhere, or
// if the export leaves for a public place and has secrets of other rules than those that are allowed.
func checkSecrets(found *relabel.ManifestSecrets, public bool, allowed []string) error {
	if found == nil {
		if public && !slices.Contains(allowed, unscanned) {
			return relabel.Errorf(relabel.CodeConflict, "its text was not scanned for secrets, since an earlier version wrote it: export it again, or push it with --allow-secret %s", unscanned)
		}
		return nil
	}
	refused := map[string]int{}
	own := false
	for rule, n := range found.Found {
		if secretscan.IsOwn(rule) || public && !slices.Contains(allowed, rule) {
			refused[rule] = n
			own = own || secretscan.IsOwn(rule)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	remedy := "export with --exclude-secrets (exclude_secrets) to exclude their states"
	if !own {
		remedy += fmt.Sprintf(", or allow them by their rules: --allow-secret %s (allow_secrets)", strings.Join(slices.Sorted(maps.Keys(refused)), " --allow-secret "))
	}
	return relabel.Errorf(relabel.CodeConflict, "the text of the export has secrets (%s): %s; %s", countsText(refused), firstSecrets(found.First, refused), remedy)
}

// shownSecrets is how many secrets a refusal names one by one.
const shownSecrets = 5

// firstSecrets names the first of the refused secrets.
func firstSecrets(first []relabel.FoundSecret, refused map[string]int) string {
	var shown []string
	for _, s := range first {
		if refused[s.Rule] > 0 && len(shown) < shownSecrets {
			shown = append(shown, s.String())
		}
	}
	if len(shown) == 0 {
		return "none of them is among the first"
	}
	return strings.Join(shown, "; ")
}
