package server

// tokenizerMeanings say what the fields of registered tokenizers mean.
var tokenizerMeanings = map[string]string{
	"Tokenizer.id":          "Id of the version.",
	"Tokenizer.name":        "Name that policies and exports use.",
	"Tokenizer.version":     "Version of the name, from 1.",
	"Tokenizer.hash":        "Hash of the files, in hexadecimal: the SHA-256 of one line per file, in the order of names, as sha256sum prints it.",
	"Tokenizer.bytes":       "Bytes of all files together.",
	"Tokenizer.files":       "The files, in the order of names.",
	"Tokenizer.created_at":  "When it was registered.",
	"TokenizerFile.name":    "Name in the model's folder.",
	"TokenizerFile.sha256":  "SHA-256 of the content, in hexadecimal.",
	"TokenizerFile.bytes":   "Bytes of the content.",
	"TokenizerDeleted.name": "Name that was deleted.",
}
