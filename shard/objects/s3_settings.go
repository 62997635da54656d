package objects

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// settings are where the settings of S3 come from: the destination, the environment, and a profile in AWS's files.
type settings struct {
	options   url.Values
	profile   map[string]string
	named     string // the profile
	cloudKeys bool

	fips, dualStack bool
	providersServer bool // whether endpoints in the environment and the profile are ignored
	withoutSums     bool // whether uploads carry no checksum
	unchecked       bool // whether files that are read are not compared with their checksum
}

// value returns the first of the destination's option, the environment's variable and the profile's key that is not empty.
func (s settings) value(option, variable, key string) string {
	return cmp.Or(s.options.Get(option), os.Getenv(variable), s.profile[key])
}

func (s settings) pathStyle() bool {
	return s.options.Get("use_path_style") == "true" || s.options.Get("s3ForcePathStyle") == "true"
}

func (s settings) accelerate() bool { return s.options.Get("accelerate") == "true" }

func (s settings) region() string {
	return cmp.Or(s.value("region", "AWS_REGION", ""), s.value("", "AWS_DEFAULT_REGION", "region"))
}

// readSettings reads the profile that the environment selects.
func readSettings(p Place) (settings, error) {
	chosen := cmp.Or(os.Getenv("AWS_PROFILE"), os.Getenv("AWS_DEFAULT_PROFILE"))
	s := settings{options: p.Options, named: cmp.Or(chosen, "default"), cloudKeys: p.CloudKeys}
	sections := []string{"profile " + s.named}
	if s.named == "default" {
		sections = append(sections, "default")
	}
	config, err := readProfile("AWS_CONFIG_FILE", "config", sections)
	if err != nil {
		return s, err
	}
	keys, err := readProfile("AWS_SHARED_CREDENTIALS_FILE", "credentials", []string{s.named})
	if err != nil {
		return s, err
	}
	if s.named != "default" && config == nil && keys == nil {
		return s, SettingError("AWS_PROFILE names the profile " + s.named + ", which is in neither of AWS's files: add it, or unset AWS_PROFILE")
	}
	s.profile = map[string]string{}
	maps.Copy(s.profile, config)
	maps.Copy(s.profile, keys) // takes precedence
	if s.profile["services"] != "" {
		return s, SettingError("the profile " + s.named + " has services, which relabel does not read: set AWS_ENDPOINT_URL_S3 instead")
	}
	return s, s.choose()
}

// choose reads the settings that are one of two words.
func (s *settings) choose() error {
	for _, c := range []struct {
		to                             *bool
		option, variable, key, yes, no string
	}{
		{&s.fips, "fips", "AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint", "true", "false"},
		{&s.dualStack, "dualstack", "AWS_USE_DUALSTACK_ENDPOINT", "use_dualstack_endpoint", "true", "false"},
		{&s.providersServer, "", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "ignore_configured_endpoint_urls", "true", "false"},
		{&s.withoutSums, "request_checksum_calculation", "AWS_REQUEST_CHECKSUM_CALCULATION", "request_checksum_calculation", "when_required", "when_supported"},
		{&s.unchecked, "response_checksum_validation", "AWS_RESPONSE_CHECKSUM_VALIDATION", "response_checksum_validation", "when_required", "when_supported"},
	} {
		value := s.value(c.option, c.variable, c.key)
		*c.to = strings.EqualFold(value, c.yes)
		if value != "" && !*c.to && !strings.EqualFold(value, c.no) {
			return SettingError(fmt.Sprintf("%s, or %s of the profile %s, is %q: it must be %s or %s", c.variable, c.key, s.named, value, c.yes, c.no))
		}
	}
	return nil
}

// readProfile returns the values of a profile in a file that a variable names, by default one in the folder .aws. It
// returns nil if there is no such file or none of the sections.
func readProfile(variable, name string, sections []string) (map[string]string, error) {
	path := os.Getenv(variable)
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil { // no home folder, so no such file
			return nil, nil
		}
		path = filepath.Join(home, ".aws", name)
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		defer file.Close()
		var values map[string]string
		if values, err = parseProfile(file, sections); err == nil {
			return values, nil
		}
	}
	return nil, SettingError("the profiles of AWS cannot be read: " + err.Error())
}

// parseProfile returns the values of the sections with these names, nil if there is none. Indented lines, which are
// parts of a value, are not read.
func parseProfile(r io.Reader, sections []string) (values map[string]string, err error) {
	inside := false
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := withoutComment(lines.Text())
		key, value, assigns := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "["):
			name, _, _ := strings.Cut(line[1:], "]")
			inside = slices.Contains(sections, strings.Join(strings.Fields(name), " "))
			if inside && values == nil {
				values = map[string]string{}
			}
		case inside && assigns && strings.TrimLeft(line, " \t") == line:
			values[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
		}
	}
	return values, lines.Err()
}

// withoutComment removes a comment, which begins the line or follows a space.
func withoutComment(line string) string {
	for i, c := range line {
		if (c == '#' || c == ';') && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return line[:i]
		}
	}
	return line
}
