package web_test

import (
	"html"
	"testing"

	"relabel"
	"relabel/web/webtest"
)

func TestAFinishedExportIsPushedFromItsPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.outcomes()
	e := s.exported()
	path := "/exports/" + e.ID.String()
	contains(t, html.UnescapeString(s.get(200, path+"/push?part=operation&destination=hf://acme/set&allow_secrets=jwt")),
		`"destination":"hf://acme/set","allow_secrets":["jwt"]`, "/v1"+path+"/push", "4321 bytes", "1 files, less what the Hub has")
	p := webtest.Open(t, s.URL+path)
	p.Wait("document.querySelector('#live-state').textContent === 'live'")
	number, err := s.store.CreatePush(t.Context(), e.ID, relabel.ExportPush{Destination: "hf://acme/set"})
	s.must(err)
	p.Wait("document.querySelector('main').innerText.includes('hf://acme/set') && document.querySelector(\".operations a[href$='/push/cancel']\")")
	_, err = s.store.ReportPush(t.Context(), e.ID, number, 2_000_000, 5_000_000)
	s.must(err)
	p.Wait("document.querySelector('main').innerText.includes('2.0 MB')")
	s.must(s.store.FinishPush(t.Context(), e.ID, number, "hf://acme/set@0123456789"))
	p.Wait("document.querySelector('main').innerText.includes('hf://acme/set@0123456789') && document.querySelector(\".operations a[href$='/push']\")")
}
