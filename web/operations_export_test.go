package web_test

import (
	"html"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/shardtest"
	"relabel/web/webtest"
)

func TestAnExportIsAskedForWithWhatItWillHold(t *testing.T) {
	t.Parallel()
	s := start(t)
	tr := s.trained()
	s.must(s.store.CreateReview(t.Context(), relabel.Review{ID: relabel.NewID(), TrajectoryID: tr.ID, Flag: "cheats", Note: "n"}))
	path := "/runs/" + s.run.ID.String() + "/export"
	ask := func(query string) string { return html.UnescapeString(s.get(200, path+"?part=operation"+query)) }
	plain := ask("")
	contains(t, plain, `-d '{"run":"`+s.run.ID.String()+`"}'`, "Takes valid submissions of the latest iteration.", "as dagger has it: valid submissions", "<td class=\"n\">6</td>", "by the labels of iteration 1", "no export of this run has it yet", "cheats")
	if strings.Contains(ask(""), "Capacity") {
		t.Error("it asks for tokens of messages")
	}
	contains(t, ask("&of=it+and+every+earlier+one&only=that+are+resolved&states=where+something+else+was+executed&flag=cheats&view=tree&view=linear&tokenizer=/srv/q&template=/srv/t&capacity=4096&max_length=2048&weights=a+label’s+tokens+share+w&labels=trained-student@1&running=gives+what+is+done+of+it&destination=s3://b/x"),
		`"views":["linear","tree"],"tokenizer":"/srv/q","template":"/srv/t","normalisation":"transition","capacity":4096,"max_length":2048}`,
		`"aggregated":true,"unfinished":true,"resolved":true,"agreement":"differs","label_policy":"trained-student@1","leave_out_flags":["cheats"],"destination":"s3://b/x"`, "<td class=\"n\">3</td>")
	contains(t, ask("&only=every+one+that+is+done&groups=only+groups+with+mixed+rewards&ended=finish&ended=context&divide=8"),
		`"submitted":false,"mixed_rewards":true,"end_reasons":["finish","context"],"divide":8}`, "Takes every finished trajectory of groups with mixed rewards, of those whose end is one of [finish context]")
	contains(t, ask("&only=with+a+valid+submission&groups=every+group"), `"submitted":true,"resolved":false,"mixed_rewards":false}`)
	contains(t, ask(`&view=tree&view=linear&template_options={"a":+1.0}&date=2026-01-31&arguments=object&reasoning=drop&thinking=as+reasoning_content+alone&template_text=a%0D%0Ab&too_long=dropped+with+all+their+labels&rows=padded+to+the+capacity&rows=linear+with+ids,+mask+and+labels+alone`),
		`"template_text":"a\nb","template_options":{"a":1.0},"date":"2026-01-31","arguments":"object","reasoning":"drop","thinking_alias":false,"too_long":"drop","pad_tree":true,"bare":true}`)
	contains(t, ask("&verdicts=of+version+1+of+the+protections+or+newer"), `"verdict_protections":"1"}`, "with a verdict of version 1 of the protections or newer")
	contains(t, ask("&iteration=7"), "no such collect iteration is done")
	s.get(400, path+"?capacity=x&view=tree")
	s.get(400, path+"?capacity=600000&view=tree")
	e := s.export()
	contains(t, ask("&view=tree"), "tree, tokens", "tree, bytes", "by export "+e.ID.String()[24:]+": 6 states")

	page := s.get(200, "/exports/"+e.ID.String())
	contains(t, page, "Of 7 states 6 are in it", "could not be had", "a bin of token trees", "have 1.76 times", "times as many tokens", "<td>collect 1</td><td class=\"n\">7</td><td class=\"n\">6</td><td class=\"left\"><span>1 label_missing</span>", "<td class=\"n\">2</td><td class=\"n\">6</td>", "fill of bins", "left_out.jsonl", "nothing but curl")
	s.rows = shownRows{}
	contains(t, s.get(200, "/exports/"+e.ID.String()), "What its bins hold is not shown: its files are in another data folder")
}

func TestAnExportIsStartedFromTheRunsPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.trained()
	done := s.export()
	p := webtest.Open(t, s.URL+"/runs/"+s.run.ID.String())
	p.Click("a[href$='/export']")
	p.Wait("document.querySelector('#operation').open")
	p.Click("#operation input[value=tree]")
	p.Wait(`document.querySelector("#operation #curl").textContent.includes('"views":["messages","tree"]') && document.querySelector("#operation [name=tokenizer]")`)
	p.Type("#operation [name=tokenizer]", shardtest.Student(t))
	p.Press("\t")
	p.Wait(`document.querySelector("#operation #curl").textContent.includes('"tokenizer":"/')`)
	p.Look("operation-export")
	p.Click("#operation button.main")
	p.Wait("location.pathname.startsWith('/exports/')")
	if text := p.Text("main"); !strings.Contains(text, "queued") {
		t.Errorf("the page says %.300s", text)
	}
	p.Go(s.URL + "/exports/" + done.ID.String())
	p.Look("export-done")
}
