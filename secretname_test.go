package relabel_test

import (
	"errors"
	"strings"
	"testing"

	"relabel"
)

func TestKeysAreNotTakenForNamesOfSecrets(t *testing.T) {
	for _, name := range []string{"", "teacher", "T", "OPENAI_API_KEY", "skills", "hf", "key-2", strings.Repeat("a", 40)} {
		if err := relabel.CheckSecretName("secret", name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, key := range []string{"sk-canary", "sk-proj-canary123", "hf_canary", "gsk_canary", "xai-canary", "AIzacanary", "ghp_canary", "AKIAcanary", "nvapi-canary", "relabel_canary", "whsec_canary",
		"1canary", "-canary", "can ary", "can/ary", "canary\n", strings.Repeat("a", 41)} {
		err := relabel.CheckSecretName("secret", key)
		var e *relabel.Error
		if !errors.As(err, &e) || e.Code != relabel.CodeInvalid || e.Field != "secret" || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", key, err)
		}
		hook := relabel.Webhook{URL: "https://h/x", Secret: key}
		if err := hook.Validate(); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("webhook with %q: %v", key, err)
		}
	}
}

func TestAddressesThatHoldACredentialAreRefused(t *testing.T) {
	for _, address := range []string{"https://me:canary@h/x", "https://h/x?token=canary", "https://h/x?API_KEY=canary", "https://h/x?a=sk-canary", "https://h/sk-canary-0123456789/x"} {
		err := relabel.Webhook{URL: address}.Validate()
		if err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("webhook %s: %v", address, err)
		}
		policy := relabel.Policy{Name: "p", BaseURL: address, Model: "m", Server: relabel.ServerGeneric, Sampling: relabel.PaperSampling, Limits: relabel.DefaultPolicyLimits}
		if err := policy.ValidateNew(); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("policy %s: %v", address, err)
		}
	}
	if err := (relabel.Webhook{URL: "https://h/x?run=a"}).Validate(); err != nil {
		t.Error(err)
	}
}

// A policy that was stored when names were freer is used as before.
func TestAStoredPolicyWithALongSecretNameStaysUsable(t *testing.T) {
	old := relabel.Policy{Name: "p", BaseURL: "http://h/v1", Model: "m", Server: relabel.ServerGeneric, Secret: "2-" + strings.Repeat("a", 60), Sampling: relabel.PaperSampling, Limits: relabel.DefaultPolicyLimits}
	if err := old.Validate(); err != nil {
		t.Error(err)
	}
	if err := old.ValidateNew(); err == nil {
		t.Error("it is taken as a new one")
	}
}
