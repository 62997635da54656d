package shard

import (
	"regexp"
	"strings"
)

// hubLicences are the licences that the Hub has names for.
var hubLicences = []string{"afl-3.0", "agpl-3.0", "apache-2.0", "artistic-2.0", "bsd", "bsd-2-clause", "bsd-3-clause", "bsd-3-clause-clear", "bsl-1.0", "cc0-1.0",
	"cc-by-2.0", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "ecl-2.0", "epl-1.0", "epl-2.0", "eupl-1.1", "eupl-1.2", "gpl", "gpl-2.0", "gpl-3.0", "isc", "lgpl",
	"lgpl-2.1", "lgpl-3.0", "lppl-1.3c", "mit", "mpl-2.0", "ms-pl", "ncsa", "odbl", "ofl-1.1", "osl-3.0", "pddl", "postgresql", "unlicense", "wtfpl", "zlib"}

// hubNames are the names that GitHub and data sets give to licences, in lower case, with those of the Hub.
var hubNames = map[string]string{
	"": "unknown", "none": "unknown", "unknown": "unknown", "noassertion": "unknown", "apache license 2.0": "apache-2.0", "apache 2.0": "apache-2.0", "apache-2": "apache-2.0", "mit license": "mit", "mit no attribution": "other",
	"isc license": "isc", "the unlicense": "unlicense", "mozilla public license 2.0": "mpl-2.0", "boost software license 1.0": "bsl-1.0", "zlib license": "zlib",
	`bsd 2-clause "simplified" license`: "bsd-2-clause", `bsd 3-clause "new" or "revised" license`: "bsd-3-clause", "bsd 3-clause": "bsd-3-clause", "bsd 2-clause": "bsd-2-clause",
	"gnu general public license v2.0": "gpl-2.0", "gnu general public license v3.0": "gpl-3.0", "gnu affero general public license v3.0": "agpl-3.0",
	"gnu lesser general public license v2.1": "lgpl-2.1", "gnu lesser general public license v3.0": "lgpl-3.0", "creative commons zero v1.0 universal": "cc0-1.0",
	"eclipse public license 2.0": "epl-2.0", "eclipse public license 1.0": "epl-1.0", "european union public license 1.2": "eupl-1.2", "academic free license v3.0": "afl-3.0", "artistic license 2.0": "artistic-2.0",
}

// versionRange matches the end of SPDX names that the Hub's names do not have.
var versionRange = regexp.MustCompile(`-(?:only|or-later)$`)

// hubLicence returns the Hub's name of a licence; unknown if there is none, other if the Hub has no name for it.
func hubLicence(name string) string {
	lower := versionRange.ReplaceAllString(strings.ToLower(strings.TrimSpace(name)), "")
	if known, is := hubNames[lower]; is {
		return known
	}
	for _, known := range hubLicences {
		if known == lower {
			return known
		}
	}
	return "other"
}
