package tokenizer

import "slices"

// parsePreTokenizer reads a pre-tokenizer as a list of stages.
func parsePreTokenizer(n node) []stage {
	if n.absent() {
		return nil
	}
	switch kind := n.kind(); kind {
	case "Sequence":
		return slices.Concat(sequence(n, "pretokenizers", parsePreTokenizer)...)
	case "ByteLevel":
		return parseByteLevel(n)
	case "Split":
		options := n.object("type", "pattern", "behavior", "invert")
		return []stage{{find: parsePattern(options["pattern"]), behavior: parseBehavior(options["behavior"]), invert: options["invert"].flag()}}
	case "Digits":
		if n.object("type", "individual_digits")["individual_digits"].flag() {
			return []stage{{find: charFinder(isNumeric), behavior: isolated}}
		}
		return []stage{{find: charFinder(isNumeric), behavior: contiguous}}
	case "Punctuation":
		s := stage{find: charFinder(isPunctuation)}
		if b := n.object("type", "behavior")["behavior"]; !b.absent() {
			s.behavior = parseBehavior(b)
		}
		return []stage{s}
	case "Whitespace":
		n.object("type")
		return []stage{{find: runFinder{isWord, isNeitherWordNorSpace}, behavior: removed, invert: true}}
	case "WhitespaceSplit":
		n.object("type")
		return []stage{{find: charFinder(isSpace), behavior: removed}}
	case "BertPreTokenizer":
		n.object("type")
		return []stage{{find: charFinder(isSpace), behavior: removed}, {find: charFinder(isPunctuation)}}
	default:
		panic(n.unknownKind("pre-tokenizer", kind))
	}
}

func isSpace(r rune) bool       { return characters().kind(r)&spaces != 0 }
func isWord(r rune) bool        { return inRanges(namedRanges("word"), r) }
func isNumeric(r rune) bool     { return inRanges(namedRanges("numeric"), r) }
func isPunctuation(r rune) bool { return inRanges(namedRanges("punctuation"), r) }

func isNeitherWordNorSpace(r rune) bool { return !isWord(r) && !isSpace(r) }

// parseByteLevel reads a ByteLevel. Its trim_offsets does not affect ids.
func parseByteLevel(n node) (stages []stage) {
	options := n.object("type", "add_prefix_space", "trim_offsets", "use_regex")
	if options["add_prefix_space"].flag() {
		stages = append(stages, stage{kind: stagePrefixSpace})
	}
	options["trim_offsets"].flag()
	if options["use_regex"].flagOr(true) {
		stages = append(stages, stage{find: scannerOf(gpt2Pattern)})
	}
	return append(stages, stage{kind: stageByteChars})
}

func parseBehavior(n node) behavior {
	name := n.text()
	b, ok := behaviors[name]
	if !ok {
		panic(n.refuse("the behavior %q is unknown", name))
	}
	return b
}

// parsePattern reads {"Regex": …} or {"String": …}.
func parsePattern(n node) finder {
	options := n.object("Regex", "String")
	regex, literal := options["Regex"], options["String"]
	if regex.absent() == literal.absent() {
		panic(n.refuse("is not one pattern, Regex or String"))
	}
	if regex.absent() {
		s := literal.text()
		if s == "" {
			panic(literal.refuse("is empty, and matches everywhere"))
		}
		return literalFinder(s)
	}
	s := regex.text()
	if len(s) > mostPattern {
		panic(regex.refuse("has %d bytes; at most %d are accepted", len(s), mostPattern))
	}
	if scan := scannerOf(s); scan != nil {
		return scan
	}
	compiled, err := compilePattern(s)
	if err != nil {
		panic(regex.refuse("%v", err))
	}
	return compiled
}

// checkPostProcessor refuses all post-processors but those that add nothing to encodings
// without special tokens. Their options do not affect ids then.
func checkPostProcessor(n node) {
	if n.absent() {
		return
	}
	switch kind := n.kind(); kind {
	case "Sequence":
		for _, item := range n.object("type", "processors")["processors"].list() {
			checkPostProcessor(item)
		}
	case "ByteLevel", "TemplateProcessing", "BertProcessing", "RobertaProcessing":
	default:
		panic(n.unknownKind("post-processor", kind))
	}
}
