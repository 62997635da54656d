package reposearcher

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"relabel"
	"relabel/codeindex"
)

// maxFile is the number of bytes of a file that are read (4 MiB). Larger files are not parsed.
const maxFile = 4 << 20

// read answers a call that reads a file.
func (e *Episode) read(ctx context.Context, tool string, args map[string]string) (relabel.Observation, error) {
	name := args["file"]
	file := e.index.File(strings.TrimPrefix(name, "./"))
	if file == nil {
		return failed(fmt.Sprintf("error: no source file %s%s", quoted(name), similarly(e.index.Similar(name)))), nil
	}
	if tool == toolImports {
		return e.imports(ctx, file)
	}
	w := wanted(tool, args)
	found := file.Find(w.name, w.kinds...)
	if len(found) == 0 {
		return e.notFound(ctx, file, w)
	}
	source, err := e.lines(ctx, file)
	if err != nil {
		return relabel.Observation{}, err
	}
	text := excerpt{limit: e.limit}
	for i, d := range found {
		if i == 0 || d.Span != found[i-1].Span { // many may be on one line
			writeSpan(&text, file.Path, source, d.Span)
		}
	}
	return relabel.Observation{Content: text.String()}, nil
}

// search is what a call looks for in a file.
type search struct {
	word  string // for the model: class, function or method
	name  string // qualified
	kinds []codeindex.Kind
}

func wanted(tool string, args map[string]string) search {
	switch tool {
	case toolClass:
		return search{"class", args["class"], []codeindex.Kind{codeindex.Class}}
	case toolMethod:
		return search{"method", args["class"] + "." + args["method"], []codeindex.Kind{codeindex.Method}}
	}
	return search{"function", args["function"], []codeindex.Kind{codeindex.Function}}
}

// imports answers with the import statements of a file.
func (e *Episode) imports(ctx context.Context, file *codeindex.File) (relabel.Observation, error) {
	if len(file.Records.Imports) == 0 && file.Records.Problem == "" {
		return relabel.Observation{Content: file.Path + " has no imports.\n"}, nil
	}
	source, err := e.lines(ctx, file)
	if err != nil {
		return relabel.Observation{}, err
	}
	text := excerpt{limit: e.limit}
	if p := file.Records.Problem; p != "" {
		fmt.Fprintf(&text, "(%s is not parsed completely: %s)\n", file.Path, p)
	}
	for i, statement := range file.Records.Imports {
		if i == 0 || statement != file.Records.Imports[i-1] {
			writeLines(&text, source, statement.Span)
		}
	}
	return relabel.Observation{Content: text.String()}, nil
}

// notFound answers a search without a result. The text of a file that is not parsed completely is
// searched for the name.
func (e *Episode) notFound(ctx context.Context, file *codeindex.File, w search) (relabel.Observation, error) {
	if file.Records.Problem != "" {
		o, found, err := e.inText(ctx, file, w)
		if found || err != nil {
			return o, err
		}
	}
	meant := similarly(file.Similar(w.name, codeindex.Class, codeindex.Function, codeindex.Method))
	if others := file.Find(w.name); len(others) > 0 && others[0].Name == w.name {
		meant = fmt.Sprintf("; it is a %s: %s shows it", others[0].Kind, toolOf[others[0].Kind])
	}
	return failed(fmt.Sprintf("error: no %s %s in %s%s", w.word, quoted(w.name), file.Path, meant)), nil
}

// toolOf is the tool that shows a kind of definition.
var toolOf = map[codeindex.Kind]string{codeindex.Class: toolClass, codeindex.Function: toolFunction, codeindex.Method: toolMethod}

// around is the number of lines that are shown before and after a name in a file that is not parsed.
const around = 40

// longestWord bounds a name in bytes that is looked for in a text; longer ones are in no index either.
const longestWord = 500

// inText shows the lines around the first occurrence of a name in a file that is not parsed completely.
func (e *Episode) inText(ctx context.Context, file *codeindex.File, w search) (o relabel.Observation, found bool, err error) {
	source, err := e.lines(ctx, file)
	if err != nil {
		return o, false, err
	}
	last := w.name[strings.LastIndexByte(w.name, '.')+1:]
	if last == "" || len(last) > longestWord {
		return o, false, nil
	}
	word := regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(last) + `($|\W)`)
	for i, line := range source {
		if !word.MatchString(line) {
			continue
		}
		text := excerpt{limit: e.limit}
		fmt.Fprintf(&text, "(%s is not parsed completely: %s; these are the lines around %s)\n", file.Path, file.Records.Problem, last)
		writeSpan(&text, file.Path, source, codeindex.Span{Start: max(1, i+1-around), End: min(len(source), i+1+around)})
		return relabel.Observation{Content: text.String()}, true, nil
	}
	return o, false, nil
}

// similarly names what may have been meant.
func similarly(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; similar: " + strings.Join(names, ", ")
}

// lines returns the lines of a file.
func (e *Episode) lines(ctx context.Context, file *codeindex.File) ([]string, error) {
	data, _, err := e.repositories.Read(ctx, e.repository, file.Blob, maxFile)
	if err != nil {
		return nil, err
	}
	return codeindex.Lines(file.Language, data), nil
}

// writeSpan writes lines below a heading.
func writeSpan(to io.Writer, path string, source []string, span codeindex.Span) {
	fmt.Fprintf(to, "%s, lines %d-%d:\n", path, span.Start, span.End)
	writeLines(to, source, span)
}

// writeLines writes lines with their numbers.
func writeLines(to io.Writer, source []string, span codeindex.Span) {
	for n := span.Start; n <= min(span.End, len(source)); n++ {
		fmt.Fprintf(to, "%d\t%s\n", n, source[n-1])
	}
}
