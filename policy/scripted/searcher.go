package scripted

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// The tools of the RepoSearcher scaffold.
const (
	toolStructure = "GetRepoStructure"
	toolImports   = "GetImportOfFile"
	toolClass     = "SearchClass"
	toolFunction  = "SearchFunction"
	toolMethod    = "SearchClassMethod"
	toolExit      = "Exit"
)

// What bounds a search.
const (
	mostCalls    = 14 // before Exit
	mostPackages = 3  // whose imports are read
	mostFiles    = 2  // whose imports are read, and in which a word is looked for
	mostWords    = 4  // of the issue that are looked for
	mostGuesses  = 4  // searches that fail; half of them of words
	mostShown    = 6  // classes and functions that other answers named
	mostAnswered = 10
)

// searches reports whether a request offers the tools of RepoSearcher.
func (q request) searches() bool { return strings.Contains(string(q.Tools), `"`+toolExit+`"`) }

// search is the teacher's action in a search: the structure, imports, what the issue names, what imports and
// errors name, then Exit and the answer.
func (f *found) search(d *dice) action {
	switch {
	case f.ended:
		return f.answer(d)
	case !f.asked[call{toolStructure, "{}"}]:
		return say(d, thoughts["structure"], call{toolStructure, "{}"})
	}
	plan := slices.DeleteFunc(f.plan(), func(c call) bool { return f.asked[c] })
	switch {
	case len(plan) == 0 || f.calls >= mostCalls:
		return say(d, thoughts["exit"], call{toolExit, "{}"})
	case plan[0].name == toolImports:
		return say(d, thoughts["import"], plan[0])
	}
	return say(d, thoughts["find"], plan[0])
}

// plan lists the calls of a search by what is known of the repository; those that were made are among them.
func (f *found) plan() (calls []call) {
	files := f.likely()
	imports := func(files []string) {
		for _, file := range files {
			calls = append(calls, call{toolImports, object("file", file)})
		}
	}
	imports(f.packages())
	for _, word := range f.issue.named[:min(len(f.issue.named), mostWords)] {
		calls = append(calls, f.lookFor(word, files, f.failed < mostGuesses/2)...)
	}
	imports(files[:min(len(files), 1)])
	for _, p := range f.suggested {
		calls = append(calls, look(owner(p)))
	}
	places := f.places()
	for _, p := range places[:min(len(places), mostShown)] {
		calls = append(calls, look(p))
	}
	files = files[:min(len(files), mostFiles)]
	for _, file := range files {
		if f.failed < mostGuesses {
			calls = append(calls, look(place{file, camel(strings.TrimSuffix(path.Base(file), path.Ext(file)))}))
		}
	}
	imports(files)
	return calls
}

// packages are the files with the imports of whole packages, the outer ones first.
func (f *found) packages() (files []string) {
	for _, p := range f.paths {
		switch path.Base(p) {
		case "__init__.py", "index.js", "index.ts", "lib.rs":
			files = append(files, p)
		}
	}
	slices.SortStableFunc(files, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	return files[:min(len(files), mostPackages)]
}

// likely are the files, the likeliest first: by the issue's words in their paths and in names that they define.
func (f *found) likely() []string {
	score := map[string]float64{}
	for _, p := range f.paths {
		score[p] = f.issue.match(strings.TrimSuffix(p, path.Ext(p)))
		if strings.HasPrefix(path.Base(p), "_") {
			score[p] -= 0.5
		}
	}
	for _, p := range f.named {
		score[p.file] += f.issue.match(p.name) / 2
	}
	files := slices.Clone(f.paths)
	slices.SortStableFunc(files, func(a, b string) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), strings.Count(a, "/")-strings.Count(b, "/"))
	})
	return files
}

// lookFor looks for a word of the issue that was not shown: where it is imported from, else, as a guess, in
// likely files.
func (f *found) lookFor(word string, files []string, guess bool) (calls []call) {
	if slices.ContainsFunc(f.shown, func(d definition) bool { return lastPart(d.name) == word }) {
		return nil
	}
	for _, p := range f.named {
		if lastPart(p.name) == word {
			calls = append(calls, look(p))
		}
	}
	if len(calls) == 0 && guess {
		for _, file := range files[:min(len(files), mostFiles)] {
			calls = append(calls, look(place{file, word}))
		}
	}
	return calls
}

// places are those that imports named and no answer has shown, the best first.
func (f *found) places() (places []place) {
	score := map[place]float64{}
	for _, p := range f.named {
		seen := slices.ContainsFunc(f.shown, func(d definition) bool { return d.place == p })
		if s := f.issue.match(p.name); s > 0 && !seen && score[p] == 0 {
			score[p] = s
			places = append(places, p)
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(score[b], score[a]) })
	return places
}

// owner is the class of a place that an error suggested, if it is a member of one.
func owner(p place) place {
	if class, _, is := strings.Cut(p.name, "."); is && isClass(class) {
		return place{p.file, class}
	}
	return p
}

// look is the call that shows a place, guessed by the form of its name.
func look(p place) call {
	if isClass(p.name) {
		return call{toolClass, object("file", p.file, "class", p.name)}
	}
	return call{toolFunction, object("file", p.file, "function", p.name)}
}

// answer is the ranked list: shown and named functions, the best first, else the likeliest files.
func (f *found) answer(d *dice) action {
	list := f.ranked()
	if len(list) == 0 {
		list = f.likely()
	}
	list = list[:min(len(list), mostAnswered)]
	return action{thought: d.pick(thoughts["answer"]) + "\n\n```\n" + strings.Join(list, "\n") + "\n```"}
}

// ranked are the functions that answers showed or errors named, by the issue's words in name and code.
func (f *found) ranked() []string {
	score := map[string]float64{}
	var names []string
	add := func(p place, s float64) {
		name := p.file + "::" + p.name
		if _, is := score[name]; !is {
			names = append(names, name)
		}
		score[name] = max(score[name], s)
	}
	for _, d := range f.shown {
		if !d.class {
			add(d.place, 2*f.issue.match(lastPart(d.name))+4*f.issue.density(d.text))
		}
	}
	for _, p := range slices.Concat(f.suggested, f.named) {
		if !isClass(p.name) {
			add(p, f.issue.match(lastPart(p.name)))
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(score[b], score[a]) })
	return names
}
