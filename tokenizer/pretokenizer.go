package tokenizer

// parsePreTokenizer reads a pre-tokenizer as the stages that it is made of.
func parsePreTokenizer(n node) ([]stage, error) {
	if n.absent() {
		return nil, nil
	}
	kind, err := n.kind()
	if err != nil {
		return nil, err
	}
	switch kind {
	case "Sequence":
		return parsePreTokenizers(n)
	case "ByteLevel":
		return parseByteLevel(n)
	case "Split":
		return parseSplit(n)
	case "Digits":
		return parseDigits(n)
	case "Punctuation":
		return parsePunctuation(n)
	case "Whitespace":
		_, err := n.object("type")
		return []stage{{find: runFinder{isWord, isNeitherWordNorSpace}, behavior: removed, invert: true}}, err
	case "WhitespaceSplit":
		_, err := n.object("type")
		return []stage{{find: charFinder(isSpace), behavior: removed}}, err
	case "BertPreTokenizer":
		_, err := n.object("type")
		return []stage{{find: charFinder(isSpace), behavior: removed}, {find: charFinder(isPunctuation)}}, err
	}
	return nil, n.unknownKind("pre-tokenizer", kind)
}

func isSpace(r rune) bool       { return characters().kind(r)&spaces != 0 }
func isWord(r rune) bool        { return inRanges(namedRanges("word"), r) }
func isNumeric(r rune) bool     { return inRanges(namedRanges("numeric"), r) }
func isPunctuation(r rune) bool { return inRanges(namedRanges("punctuation"), r) }

func isNeitherWordNorSpace(r rune) bool { return !isWord(r) && !isSpace(r) }

func parsePreTokenizers(n node) ([]stage, error) {
	options, err := n.object("type", "pretokenizers")
	if err != nil {
		return nil, err
	}
	list, err := options["pretokenizers"].list()
	if err != nil {
		return nil, err
	}
	var all []stage
	for _, item := range list {
		if item.absent() {
			return nil, item.refuse("is missing")
		}
		stages, err := parsePreTokenizer(item)
		if err != nil {
			return nil, err
		}
		all = append(all, stages...)
	}
	return all, nil
}

// parseByteLevel reads a ByteLevel. Its trim_offsets has no say in ids.
func parseByteLevel(n node) ([]stage, error) {
	options, err := n.object("type", "add_prefix_space", "trim_offsets", "use_regex")
	if err != nil {
		return nil, err
	}
	var stages []stage
	prefix, err := options["add_prefix_space"].flag()
	if err != nil {
		return nil, err
	}
	if prefix {
		stages = append(stages, stage{kind: stagePrefixSpace})
	}
	if _, err := options["trim_offsets"].flag(); err != nil {
		return nil, err
	}
	split, err := options["use_regex"].flagOr(true)
	if err != nil {
		return nil, err
	}
	if split {
		stages = append(stages, stage{find: scannerOf(gpt2Pattern)})
	}
	return append(stages, stage{kind: stageByteChars}), nil
}

func parseSplit(n node) ([]stage, error) {
	options, err := n.object("type", "pattern", "behavior", "invert")
	if err != nil {
		return nil, err
	}
	s := stage{}
	if s.find, err = parsePattern(options["pattern"]); err != nil {
		return nil, err
	}
	if s.behavior, err = parseBehavior(options["behavior"]); err != nil {
		return nil, err
	}
	s.invert, err = options["invert"].flag()
	return []stage{s}, err
}

func parseBehavior(n node) (behavior, error) {
	name, err := n.text()
	if err != nil {
		return 0, err
	}
	b, ok := behaviors[name]
	if !ok {
		return 0, n.refuse("the behavior %q is not known", name)
	}
	return b, nil
}

func parseDigits(n node) ([]stage, error) {
	options, err := n.object("type", "individual_digits")
	if err != nil {
		return nil, err
	}
	s := stage{find: charFinder(isNumeric), behavior: contiguous}
	individual, err := options["individual_digits"].flag()
	if individual {
		s.behavior = isolated
	}
	return []stage{s}, err
}

func parsePunctuation(n node) ([]stage, error) {
	options, err := n.object("type", "behavior")
	if err != nil {
		return nil, err
	}
	s := stage{find: charFinder(isPunctuation)}
	if !options["behavior"].absent() {
		s.behavior, err = parseBehavior(options["behavior"])
	}
	return []stage{s}, err
}

// parsePattern reads {"Regex": …} or {"String": …}.
func parsePattern(n node) (finder, error) {
	options, err := n.object("Regex", "String")
	if err != nil {
		return nil, err
	}
	source, literal := options["Regex"], options["String"]
	if source.absent() == literal.absent() {
		return nil, n.refuse("is not one pattern, Regex or String")
	}
	if source.absent() {
		s, err := literal.text()
		if err == nil && s == "" {
			err = literal.refuse("is empty, and matches everywhere")
		}
		return literalFinder(s), err
	}
	s, err := source.text()
	if err != nil {
		return nil, err
	}
	if len(s) > mostPattern {
		return nil, source.refuse("has %d bytes; at most %d are accepted", len(s), mostPattern)
	}
	if scan := scannerOf(s); scan != nil {
		return scan, nil
	}
	compiled, err := compilePattern(s)
	if err != nil {
		return nil, source.refuse("%v", err)
	}
	return compiled, nil
}

// checkPostProcessor knows the post-processors that add nothing where no special tokens
// are asked for, and leaves ids as they are. Their options have no say then.
func checkPostProcessor(n node) error {
	if n.absent() {
		return nil
	}
	kind, err := n.kind()
	if err != nil {
		return err
	}
	switch kind {
	case "Sequence":
		options, err := n.object("type", "processors")
		if err != nil {
			return err
		}
		list, err := options["processors"].list()
		for _, item := range list {
			if err := checkPostProcessor(item); err != nil {
				return err
			}
		}
		return err
	case "ByteLevel", "TemplateProcessing", "BertProcessing", "RobertaProcessing":
		return nil
	}
	return n.unknownKind("post-processor", kind)
}
