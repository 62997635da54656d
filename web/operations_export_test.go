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
	contains(t, plain, `-d '{"run":"`+s.run.ID.String()+`"}'`, "Exports valid submissions of the latest iteration.", "<td class=\"n\">6</td>", "labels of iteration 1", "no export of this run has this view yet", "cheats")
	if strings.Contains(ask(""), "Capacity") {
		t.Error("it asks for tokens of messages")
	}
	contains(t, ask("&aggregated=true&resolved=true&agreement=differs&exclude_flags=cheats&views=linear&views=tree&tokenizer=/srv/q&template=/srv/t&capacity=4096&max_length=2048&normalisation=transition&label_policy=trained-student@1&unfinished=true&destination=s3://b/x"),
		`"views":["linear","tree"],"tokenizer":"/srv/q","template":"/srv/t","normalisation":"transition","capacity":4096,"max_length":2048}`,
		`"aggregated":true,"unfinished":true,"resolved":true,"agreement":"differs","label_policy":"trained-student@1","exclude_flags":["cheats"],"destination":"s3://b/x"`, "<td class=\"n\">3</td>")
	contains(t, ask("&submitted=false&mixed_rewards=true&end_reasons=finish&end_reasons=context&divide=8"),
		`"submitted":false,"mixed_rewards":true,"end_reasons":["finish","context"],"divide":8}`, "Exports every finished trajectory of groups with mixed rewards, of those whose end is one of [finish context]")
	contains(t, ask("&submitted=true&resolved=false&mixed_rewards=false"), `"submitted":true,"resolved":false,"mixed_rewards":false}`)
	contains(t, ask(`&views=tree&views=linear&template_options={"a":+1.0}&date=2026-01-31&arguments=object&reasoning=drop&thinking_alias=false&template_text=a%0D%0Ab&too_long=drop&pad_tree=true&bare=true`),
		`"template_text":"a\nb","template_options":{"a":1.0},"date":"2026-01-31","arguments":"object","reasoning":"drop","thinking_alias":false,"too_long":"drop","pad_tree":true,"bare":true}`)
	contains(t, ask("&verdict_protections=1"), `"verdict_protections":"1"}`, "with a verdict of version 1 of the protections or newer")
	contains(t, ask("&exclude_flags=cheats&exclude_flags=mode:loop"), `"exclude_flags":["cheats","mode:loop"]}`, "flagged cheats, mode:loop",
		`value="mode:loop" checked> repetitive loop`, `value="mode:tool_use_error"> tool-use error`)
	contains(t, ask("&iteration=7"), "no collect iteration of the selection is done")
	s.get(400, path+"?capacity=x&views=tree")
	s.get(400, path+"?capacity=600000&views=tree")
	e := s.export()
	contains(t, ask("&views=tree"), "tree, tokens", "tree, bytes", "from export "+e.ID.String()[24:]+": 6 states")

	page := s.get(200, "/exports/"+e.ID.String())
	contains(t, page, "It contains 6 of 7 states", "action is missing", "a bin of token trees", "have 1.76 times", "times as many tokens", "<td>collect 1</td><td class=\"n\">7</td><td class=\"n\">6</td><td class=\"left\"><span>1 label_missing</span>", "<td class=\"n\">2</td><td class=\"n\">6</td>", "fill of bins", "excluded.jsonl", "Download all files with curl")
	s.rows = shownRows{}
	contains(t, s.get(200, "/exports/"+e.ID.String()), "Contents of its bins are not available: its files are in another data folder")
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
