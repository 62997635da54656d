package evaluation

import (
	"slices"

	"relabel/codeindex"
)

// languagesOf are the languages of files by their names, each once; "" for files of none.
func languagesOf(files []string) (languages []string) {
	for _, file := range files {
		language := string(codeindex.LanguageOf(file))
		if !slices.Contains(languages, language) {
			languages = append(languages, language)
		}
	}
	return languages
}
