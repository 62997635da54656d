package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"

	"relabel/web/webtest"
)

// TestPicturesOfTheDocuments takes the pictures of docs/ from a demo that runs:
//
//	RELABEL_PICTURES_OF=http://127.0.0.1:7788 RELABEL_TEST_PICTURES=$PWD/docs go test -run PicturesOfTheDocuments ./web
func TestPicturesOfTheDocuments(t *testing.T) {
	base := os.Getenv("RELABEL_PICTURES_OF")
	if base == "" {
		t.Skip("RELABEL_PICTURES_OF is not set: the address of a demo to take pictures of")
	}
	run := first(t, base+"/v1/runs?limit=100", func(r map[string]any) bool { return r["recipe"] == "dagger" })
	parted := first(t, fmt.Sprintf("%s/v1/trajectories?run=%s&sort=latest_difference", base, run["id"]), func(tr map[string]any) bool {
		agreement, ok := tr["agreement"].(float64)
		return ok && agreement >= 0.5 && agreement < 1
	})
	export := first(t, fmt.Sprintf("%s/v1/exports?run=%s", base, run["id"]), func(e map[string]any) bool { return e["state"] == "done" })
	trajectory := fmt.Sprintf("%s/trajectories/%s", base, parted["id"])
	p := webtest.Open(t, trajectory)
	p.Screen("viewer")
	p.Press("n") // to the turn where they part
	p.Wait("location.hash && document.querySelector(location.hash + ' .label')")
	p.Set(webtest.Phone())
	p.Press("n", "p")
	p.Screen("viewer-phone")
	p = webtest.Open(t, fmt.Sprintf("%s/trainer?export=%s", trajectory, export["id"]))
	p.Screen("viewer-trainer")
	p = webtest.Open(t, fmt.Sprintf("%s/runs/%s", base, run["id"]), webtest.Dark())
	p.Wait("document.querySelector('canvas')")
	p.Screen("viewer-run-dark")
}

// first is the first thing of a list that is wanted.
func first(t *testing.T, address string, wanted func(map[string]any) bool) map[string]any {
	t.Helper()
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body) // what there is of it does not parse
	var list struct {
		Items []map[string]any `json:"items"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatalf("%s: %v: %.300s", address, err, body)
	}
	for _, item := range list.Items {
		if wanted(item) {
			return item
		}
	}
	t.Fatalf("nothing at %s is wanted: %.300s", address, body)
	return nil
}
