package policy

import (
	"net/http"
	"strings"
	"testing"

	"relabel"
	"relabel/outbound"
)

func TestARefusedAddressIsNotRetried(t *testing.T) {
	for _, base := range []string{"http://169.254.169.254/v1", "http://[fd00:ec2::254]/v1", "http://[::ffff:169.254.169.254]/v1"} {
		kept := &ledger{}
		p := aPolicy(func(p *relabel.Policy) { p.BaseURL, p.Limits.PatienceSeconds = base, 600 })
		o := Options{Record: kept.record, Transport: func() *http.Transport { return outbound.Rule{}.Transport() }}
		_, err := openAs(t, p, o).Complete(t.Context(), relabel.ChatRequest{Messages: []relabel.Message{{Role: "user", Content: "hello"}}, Purpose: relabel.PurposeAct})
		if relabel.CodeOf(err) != relabel.CodeEndpoint || !strings.Contains(err.Error(), "relabel never connects to such addresses") {
			t.Errorf("%s: %v", base, err)
		}
		if call := kept.only(t); call.Tries != 1 {
			t.Errorf("%s: %d tries", base, call.Tries)
		}
		batches, err := OpenBatches(p, o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := batches.Upload(t.Context(), "a.jsonl", strings.NewReader("{}\n"), 3); relabel.CodeOf(err) != relabel.CodeEndpoint {
			t.Errorf("%s: the batch endpoint: %v", base, err)
		}
	}
}
