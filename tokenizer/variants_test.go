package tokenizer

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type object = map[string]any

// variant is a tokenizer.json made for a test: byte-level, with a token for each byte and
// for a quarter of all pairs of bytes, so that ids show where words were cut.
func variant(change func(file, model object)) object {
	vocabulary := object{}
	var merges [][2]string
	for b, c := range byteChars {
		vocabulary[string(c)] = b
	}
	for a, left := range byteChars {
		for b, right := range byteChars {
			if (a*31+b*17)%4 == 0 {
				vocabulary[string(left)+string(right)] = len(vocabulary)
				merges = append(merges, [2]string{string(left), string(right)})
			}
		}
	}
	rand.New(rand.NewPCG(7, 8)).Shuffle(len(merges), func(i, j int) { merges[i], merges[j] = merges[j], merges[i] })
	model := object{"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": nil, "end_of_word_suffix": nil,
		"fuse_unk": false, "byte_fallback": false, "ignore_merges": false, "vocab": vocabulary, "merges": merges}
	file := object{"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": []object{added("<|end|>", "special"), added("<tool>")},
		"normalizer": nil, "pre_tokenizer": byteLevel(false, true), "post_processor": nil, "decoder": byteLevel(true, true), "model": model}
	change(file, model)
	return file
}

// added is an entry of added_tokens with the flags named.
func added(content string, flags ...string) object {
	o := object{"id": 900_000, "content": content}
	for _, name := range []string{"single_word", "lstrip", "rstrip", "normalized", "special"} {
		o[name] = slices.Contains(flags, name)
	}
	return o
}

func byteLevel(prefix, regex bool) object {
	return object{"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": true, "use_regex": regex}
}

func split(pattern, behavior string, invert bool) object {
	return object{"type": "Split", "pattern": object{"Regex": pattern}, "behavior": behavior, "invert": invert}
}

func inTurn(key string, parts ...object) object {
	if parts == nil {
		parts = []object{}
	}
	return object{"type": "Sequence", key: parts}
}

func preTokenizer(parts ...object) func(file, model object) {
	return func(file, _ object) { file["pre_tokenizer"] = inTurn("pretokenizers", parts...) }
}

func normalized(parts ...object) func(file, model object) {
	return func(file, _ object) {
		file["normalizer"] = inTurn("normalizers", parts...)
		file["added_tokens"] = []object{added("<|end|>", "special"), added("é", "normalized"), added("Å b", "normalized", "special"), added("x", "single_word", "normalized")}
	}
}

// byCharacter makes words of characters, some of them unknown.
func byCharacter(options object) func(file, model object) {
	return func(file, model object) {
		file["pre_tokenizer"] = object{"type": "Split", "pattern": object{"String": " "}, "behavior": "MergedWithPrevious", "invert": false}
		file["decoder"] = inTurn("decoders", object{"type": "Replace", "pattern": object{"String": "a"}, "content": "▁"}, object{"type": "ByteFallback"},
			object{"type": "Fuse"}, object{"type": "Strip", "content": "▁", "start": 2, "stop": 0})
		vocabulary := model["vocab"].(object)
		vocabulary["<unk>"], vocabulary[" "] = len(vocabulary), len(vocabulary)+1
		for b := range 256 {
			if b%8 != 3 || options["half"] == nil {
				vocabulary[fmt.Sprintf("<0x%02X>", b)] = len(vocabulary)
			}
		}
		for k, v := range options {
			if k != "half" {
				model[k] = v
			}
		}
	}
}

func nothing(object, object) {}

// variants have each component and option that is known at least once.
var variants = map[string]func(file, model object){
	"plain":           nothing,
	"merges as lines": asLines,
	"repeated merges": func(_, m object) {
		m["merges"] = append(m["merges"].([][2]string), m["merges"].([][2]string)[:2000]...)
	},
	"ignore merges":             func(_, m object) { m["ignore_merges"] = true; m["vocab"].(object)["abc"] = len(m["vocab"].(object)) },
	"no pre-tokenizer":          func(f, _ object) { f["pre_tokenizer"] = nil },
	"no decoder":                func(f, _ object) { f["decoder"] = nil },
	"prefix space":              func(f, _ object) { f["pre_tokenizer"] = byteLevel(true, true) },
	"prefix space, no split":    func(f, _ object) { f["pre_tokenizer"] = byteLevel(true, false) },
	"a byte without a token":    func(_, m object) { delete(m["vocab"].(object), "Ġ"); dropMerges(m, "Ġ") },
	"falcon":                    preTokenizer(object{"type": "Punctuation", "behavior": "Contiguous"}, byteLevel(false, true), object{"type": "Digits", "individual_digits": false}, split("[0-9][0-9][0-9]", "Isolated", false)),
	"bytes twice":               preTokenizer(byteLevel(false, true), byteLevel(false, false)),
	"digits alone":              preTokenizer(object{"type": "Digits", "individual_digits": true}, byteLevel(false, false)),
	"punctuation":               preTokenizer(object{"type": "Punctuation"}, byteLevel(false, false)),
	"white space":               preTokenizer(object{"type": "Whitespace"}, byteLevel(false, false)),
	"white space split":         preTokenizer(object{"type": "WhitespaceSplit"}, byteLevel(false, false)),
	"bert":                      preTokenizer(object{"type": "BertPreTokenizer"}, byteLevel(false, false)),
	"deepseek coder":            preTokenizer(split(`[\r\n]`, "Isolated", false), split(`\s?\p{L}+`, "Isolated", false), split(`\s?\p{P}+`, "Isolated", false), split(`[一-龥ࠀ-一가-퟿]+`, "Isolated", false), object{"type": "Digits", "individual_digits": true}, byteLevel(false, false)),
	"deepseek v3":               preTokenizer(split(digitsPattern, "Isolated", false), split(cjkPattern, "Isolated", false), split(deepSeekWords, "Isolated", false), byteLevel(false, false)),
	"empty matches":             preTokenizer(split(`\s*`, "Isolated", false), byteLevel(false, false)),
	"NFC":                       normalized(object{"type": "NFC"}),
	"NFD":                       normalized(object{"type": "NFD"}),
	"NFKC":                      normalized(object{"type": "NFKC"}),
	"NFKD":                      normalized(object{"type": "NFKD"}),
	"no normalizer in sequence": normalized(),
	"strip":                     normalized(object{"type": "Strip", "strip_left": true, "strip_right": false}),
	"strip right":               normalized(object{"type": "Strip", "strip_left": false, "strip_right": true}),
	"prepend and replace":       normalized(object{"type": "Prepend", "prepend": "Ā "}, object{"type": "Replace", "pattern": object{"String": " "}, "content": "xx"}),
	"replace by pattern":        normalized(object{"type": "Replace", "pattern": object{"Regex": `\s+`}, "content": " "}, object{"type": "NFC"}),
	"bytes when normalized": func(f, _ object) {
		f["normalizer"], f["pre_tokenizer"] = object{"type": "ByteLevel"}, nil
		f["added_tokens"] = []object{added("<|end|>", "special"), added("é b", "normalized")}
	},
	"unknown":              byCharacter(object{"unk_token": "<unk>"}),
	"unknown, fused":       byCharacter(object{"unk_token": "<unk>", "fuse_unk": true}),
	"fallback":             byCharacter(object{"byte_fallback": true}),
	"fallback half, fused": byCharacter(object{"byte_fallback": true, "unk_token": "<unk>", "fuse_unk": true, "half": true}),
	"fallback half":        byCharacter(object{"byte_fallback": true, "unk_token": "<unk>", "half": true}),
	"fallback, ignore":     byCharacter(object{"byte_fallback": true, "ignore_merges": true}),
	"dropout of nothing":   func(_, m object) { m["dropout"] = 0.0 },
	"legacy, few options":  func(_, m object) { delete(m, "ignore_merges"); delete(m, "byte_fallback") },
	"tokens of all kinds":  manyAdded,
	"the longest of tokens": func(f, _ object) {
		f["added_tokens"] = []object{added("a"), added("ab", "special"), added("abc", "single_word"), added("bcd"), added(" x", "special"), added("a b", "normalized"), added("b", "normalized", "special")}
	},
	"post-processors": func(f, _ object) {
		f["post_processor"] = inTurn("processors", byteLevel(true, true), object{"type": "TemplateProcessing",
			"single": []object{{"SpecialToken": object{"id": "<|end|>", "type_id": 0}}, {"Sequence": object{"id": "A", "type_id": 0}}}, "pair": []object{{"Sequence": object{"id": "A", "type_id": 0}}, {"Sequence": object{"id": "B", "type_id": 0}}},
			"special_tokens": object{"<|end|>": object{"id": "<|end|>", "ids": []int{0}, "tokens": []string{"<|end|>"}}}})
	},
}

func asLines(_, m object) {
	lines := []string{"#version: 0.2"}
	for _, pair := range m["merges"].([][2]string) {
		lines = append(lines, pair[0]+" "+pair[1])
	}
	m["merges"] = lines
}

func dropMerges(m object, part string) {
	m["merges"] = slices.DeleteFunc(m["merges"].([][2]string), func(p [2]string) bool { return p[0] == part || p[1] == part })
}

func manyAdded(f, _ object) {
	f["normalizer"] = object{"type": "NFC"}
	f["added_tokens"] = []object{added("<|end|>", "special"), added("<left>", "lstrip"), added("<right>", "rstrip", "special"), added("<both>", "lstrip", "rstrip"), added("word", "single_word"),
		added("\n", "normalized"), added("  "), added("\t", "lstrip", "rstrip"), added("<n>", "normalized", "lstrip", "rstrip"), added("a"), added("a", "special"), added(""), added("e\u0301", "normalized", "single_word"), added("ſ", "normalized", "special", "single_word", "rstrip")}
}

// writeVariant writes a variant where the reference finds it.
func writeVariant(t *testing.T, change func(file, model object)) (string, []byte) {
	t.Helper()
	data, err := json.Marshal(variant(change))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "tokenizer.json")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name, data
}

func TestEachComponentWorksAsInTheReference(t *testing.T) {
	for _, behavior := range slices.Sorted(maps.Keys(behaviors)) {
		for _, invert := range []bool{false, true} {
			variants[fmt.Sprintf("%s %v", behavior, invert)] = preTokenizer(split(`[0-9]|\s`, behavior, invert), byteLevel(false, false))
		}
		variants["punctuation "+behavior] = preTokenizer(object{"type": "Punctuation", "behavior": behavior}, byteLevel(false, true))
	}
	for name, source := range scannedPatterns {
		variants["pattern "+name] = preTokenizer(split(source, "Removed", true), byteLevel(false, false))
	}
	mixed, ref := mixedTexts(t), startReference(t)
	for _, name := range slices.Sorted(maps.Keys(variants)) {
		t.Run(name, func(t *testing.T) {
			file, data := writeVariant(t, variants[name])
			tk, err := Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			ref.open(file)
			compare(t, tk, ref, mixed)
			compare(t, tk, ref, drawnNow(t, fuzzedTexts(tk, 500), 5))
			compareDecoded(t, tk, ref)
		})
	}
}

// compareDecoded decodes ids that no text has.
func compareDecoded(t *testing.T, tk *Tokenizer, ref *reference) {
	t.Helper()
	r := rand.New(rand.NewPCG(9, 10))
	lists := make([][]int32, 500)
	for i := range lists {
		lists[i] = make([]int32, r.IntN(12))
		for k := range lists[i] {
			lists[i][k] = int32(r.IntN(tk.Size() + 3))
			if r.IntN(2) == 0 {
				lists[i][k] = int32(r.IntN(300))
			}
		}
	}
	var want []string
	if err := ref.ask(map[string]any{"decode": lists}, &want); err != nil {
		t.Fatal(err)
	}
	for i, ids := range lists {
		if got := tk.Decode(ids); got != want[i] {
			t.Fatalf("%v decodes to %q, in the reference to %q", ids, got, want[i])
		}
	}
}

// refusals are changes that must be refused, with the path and a word of the reason.
var refusals = map[string]func(file, model object){
	"model.type: the model \"WordPiece\"":                                       func(_, m object) { m["type"] = "WordPiece" },
	"model.type: the model \"Unigram\"":                                         func(_, m object) { m["type"] = "Unigram" },
	"model.dropout: drops merges":                                               func(_, m object) { m["dropout"] = 0.1 },
	"model.continuing_subword_prefix: \"##\"":                                   func(_, m object) { m["continuing_subword_prefix"] = "##" },
	"model.end_of_word_suffix: \"</w>\"":                                        func(_, m object) { m["end_of_word_suffix"] = "</w>" },
	"model.unk_token: \"<unk>\" is not in":                                      func(_, m object) { m["unk_token"] = "<unk>" },
	"model.cache_capacity: is an unknown option":                                func(_, m object) { m["cache_capacity"] = 1 },
	"model.merges: merge 0 of":                                                  func(_, m object) { m["merges"] = [][2]string{{"a", "nothere"}} },
	"model.merges: merge \"a b c\"":                                             func(_, m object) { m["merges"] = []string{"a b c"} },
	"model.merges: is missing":                                                  func(_, m object) { m["merges"] = nil },
	"model.vocab: is missing":                                                   func(_, m object) { delete(m, "vocab") },
	"model.vocab: id 97 belongs to two":                                         func(_, m object) { m["vocab"].(object)["twice"] = 97 },
	"model.fuse_unk: is not true or false":                                      func(_, m object) { m["fuse_unk"] = "yes" },
	"version: version \"2.0\"":                                                  func(f, _ object) { f["version"] = "2.0" },
	"truncation: would truncate":                                                func(f, _ object) { f["truncation"] = object{"max_length": 5} },
	"padding: would pad":                                                        func(f, _ object) { f["padding"] = object{"strategy": "BatchLongest"} },
	"extra: is an unknown option":                                               func(f, _ object) { f["extra"] = 1 },
	"model: is missing":                                                         func(f, _ object) { delete(f, "model") },
	"normalizer.type: the normalizer \"Lowercase\"":                             func(f, _ object) { f["normalizer"] = object{"type": "Lowercase"} },
	"normalizer.form: is an unknown option":                                     func(f, _ object) { f["normalizer"] = object{"type": "NFC", "form": 1} },
	"normalizer.normalizers[1].type: the normalizer":                            normalized(object{"type": "NFC"}, object{"type": "Precompiled", "precompiled_charsmap": ""}),
	"pre_tokenizer.type: the pre-tokenizer \"Metaspace\"":                       func(f, _ object) { f["pre_tokenizer"] = object{"type": "Metaspace"} },
	"pre_tokenizer.pretokenizers[1].type: the pre-tokenizer \"UnicodeScripts\"": preTokenizer(byteLevel(false, true), object{"type": "UnicodeScripts"}),
	"pre_tokenizer.pretokenizers[0].behavior: the behavior \"Other\"":           preTokenizer(split("a", "Other", false)),
	"pre_tokenizer.pretokenizers[0].pattern.Regex: pattern \"(?<n>a)\"":         preTokenizer(split("(?<n>a)", "Isolated", false)),
	"pre_tokenizer.pretokenizers[0].pattern.String: is empty":                   preTokenizer(object{"type": "Split", "pattern": object{"String": ""}, "behavior": "Isolated", "invert": false}),
	"pre_tokenizer.pretokenizers[0].invert: is missing":                         preTokenizer(object{"type": "Split", "pattern": object{"String": "a"}, "behavior": "Isolated"}),
	"pre_tokenizer: has no type":                                                func(f, _ object) { f["pre_tokenizer"] = object{"pretokenizers": []object{}} },
	"post_processor.type: the post-processor \"Other\"":                         func(f, _ object) { f["post_processor"] = object{"type": "Other"} },
	"decoder.type: the decoder \"WordPiece\"":                                   func(f, _ object) { f["decoder"] = object{"type": "WordPiece", "prefix": "##", "cleanup": true} },
	"decoder.decoders[0].type: the decoder \"CTC\"":                             func(f, _ object) { f["decoder"] = inTurn("decoders", object{"type": "CTC"}) },
	"added_tokens[0].single_word: is missing":                                   func(f, _ object) { f["added_tokens"] = []object{{"id": 1, "content": "a"}} },
	"added_tokens: token \"e\u0301\" is, normalized": func(f, _ object) {
		f["normalizer"], f["added_tokens"] = object{"type": "NFC"}, []object{added("é", "normalized"), added("e\u0301", "normalized")}
	},
}

func TestUnsupportedOptionsAreRefusedByPath(t *testing.T) {
	for want, change := range refusals {
		_, data := writeVariant(t, change)
		if _, err := Parse(data); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
