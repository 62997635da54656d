package testlog

import (
	"bytes"
	"encoding/json"
)

// maxReread bounds the bytes that are read while places of a log are tried as such an object.
const maxReread = 64 << 20

// parseTestsJSON reads what the parsers of SWE-bench Pro write: an object with the list tests, of objects with name and
// status. The last such object of the log counts.
func parseTestsJSON(log []byte) Outcomes {
	key := []byte(`"tests"`)
	read := 0
	for end := len(log); read <= maxReread; {
		if end = bytes.LastIndex(log[:end], key); end < 0 {
			break
		}
		at := bytes.LastIndexByte(log[:end], '{')
		read += len(log) - at
		var report struct {
			Tests []struct{ Name, Status string }
		}
		if at < 0 || json.NewDecoder(bytes.NewReader(log[at:])).Decode(&report) != nil || report.Tests == nil {
			continue
		}
		o := Outcomes{}
		for _, test := range report.Tests {
			o.add(test.Name, statuses[test.Status])
		}
		return o
	}
	return Outcomes{}
}
