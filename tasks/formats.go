package tasks

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"relabel"
)

// ownFields are the fields of relabel's own format. It refuses others, so that misspelt
// fields are found.
var ownFields = []string{
	"kind", "instance_id", "image", "workdir", "problem_statement", "hints_text", "patch", "test_patch", "test_cmd",
	"log_parser", "FAIL_TO_PASS", "PASS_TO_PASS", "expected", "start_patch", "hidden", "licence", "repo", "base_commit",
	"base_version", "created_at", // the origin; not stored
}

// sweGymRepos are the eleven repositories of SWE-Gym, sweBenchRepos those with images of
// SWE-bench and its variants. They are disjoint, so they identify the data set of a line without
// an image.
var (
	sweGymRepos = []string{
		"project-monai/monai", "python/mypy", "conan-io/conan", "iterative/dvc", "getmoto/moto", "bokeh/bokeh",
		"pydantic/pydantic", "dask/dask", "facebookresearch/hydra", "modin-project/modin", "pandas-dev/pandas",
	}
	sweBenchRepos = []string{
		"astropy/astropy", "django/django", "matplotlib/matplotlib", "mwaskom/seaborn", "pallets/flask", "psf/requests",
		"pydata/xarray", "pylint-dev/pylint", "pytest-dev/pytest", "scikit-learn/scikit-learn", "sphinx-doc/sphinx", "sympy/sympy",
		// The development split.
		"marshmallow-code/marshmallow", "pvlib/pvlib-python", "pydicom/pydicom", "pylint-dev/astroid", "pyvista/pyvista", "sqlfluff/sqlfluff",
		// Multimodal and Multilingual.
		"alibaba-fusion/next", "apache/druid", "apache/lucene", "astral-sh/ruff", "automattic/wp-calypso", "axios/axios", "babel/babel",
		"bpmn-io/bpmn-js", "briannesbitt/carbon", "burntsushi/ripgrep", "caddyserver/caddy", "carbon-design-system/carbon", "chartjs/chart.js",
		"diegomura/react-pdf", "eslint/eslint", "facebook/docusaurus", "faker-ruby/faker", "fastlane/fastlane", "fluent/fluentd", "fmtlib/fmt",
		"gin-gonic/gin", "gohugoio/hugo", "google/gson", "googlechrome/lighthouse", "grommet/grommet", "hashicorp/terraform",
		"highlightjs/highlight.js", "immutable-js/immutable-js", "javaparser/javaparser", "jekyll/jekyll", "jordansissel/fpm", "jqlang/jq",
		"laravel/framework", "markedjs/marked", "micropython/micropython", "mrdoob/three.js", "nlohmann/json", "nushell/nushell",
		"openlayers/openlayers", "php-cs-fixer/php-cs-fixer", "phpoffice/phpspreadsheet", "preactjs/preact", "prettier/prettier", "prismjs/prism",
		"processing/p5.js", "projectlombok/lombok", "prometheus/prometheus", "quarto-dev/quarto-cli", "reactivex/rxjava", "redis/redis",
		"rubocop/rubocop", "scratchfoundation/scratch-gui", "sharkdp/bat", "tokio-rs/axum", "tokio-rs/tokio", "uutils/coreutils",
		"valkey-io/valkey", "vuejs/core",
	}
)

// task reads the row in the given format, or in the one detected from its fields.
func (l *taskLine) task(format Format) relabel.Task {
	if inner := l.nested(); inner != nil {
		t := inner.task(format)
		l.adopt(nestedField, inner)
		return t
	}
	if l.wrong("") {
		return relabel.Task{}
	}
	if l.localises(format) {
		return l.readLocalise()
	}
	if l.inTerminal(format) {
		return l.readTerminal()
	}
	if format == FormatAuto {
		if format = l.detectFormat(); format == "" {
			return relabel.Task{}
		}
	}
	t := l.readFormat(format)
	if t.Licence == "" {
		t.Licence = l.licence()
	}
	l.check(t)
	return t
}

// readFormat reads the row in a format.
func (l *taskLine) readFormat(format Format) relabel.Task {
	switch format {
	case FormatRelabel:
		return l.readOwn()
	case FormatSWESmith:
		return l.readSmith()
	case FormatR2EGym:
		return l.readR2EGym()
	case FormatScaleSWE:
		return l.readScale()
	case FormatSWEBenchPro:
		return l.readPro()
	case FormatMultiSWE:
		return l.readMulti()
	}
	t := l.core(format)
	l.readSWE(&t, format)
	return t
}

// core reads the fields that relabel's own format and those of the SWE-bench family share.
func (l *taskLine) core(format Format) relabel.Task {
	return relabel.Task{
		Kind: relabel.Repair, InstanceID: l.need("instance_id"), Repo: l.text("repo"), Image: l.image(format), Workdir: l.folder(format),
		ProblemStatement: l.need("problem_statement"), HintsText: l.text("hints_text"), Patch: l.need("patch"),
		FailToPass: l.tests("FAIL_TO_PASS"), PassToPass: l.tests("PASS_TO_PASS"),
	}
}

// licence is the licence of the repository, as the data set names it.
func (l *taskLine) licence() string {
	for _, field := range []string{"license", "license_name"} {
		if l.has(field) && l.quietText(field) != "" {
			return l.text(field)
		}
	}
	return ""
}

// folder is the path of the repository in the image: the line's own, or the data set's.
func (l *taskLine) folder(format Format) string {
	if l.has("workdir") {
		return l.text("workdir")
	}
	if format != FormatSWERebenchV2 {
		return "/testbed"
	}
	_, name, ok := strings.Cut(l.quietText("repo"), "/")
	if !ok || name == "" {
		l.refuse("repo", "is not OWNER/NAME, after which the image's folder is named")
	}
	return "/" + name
}

// readOwn reads relabel's own format.
func (l *taskLine) readOwn() relabel.Task {
	l.onlyFields(ownFields)
	if kind := l.text("kind"); kind != "" && kind != string(relabel.Repair) {
		l.refuseKind(kind)
	}
	t := l.core(FormatRelabel)
	t.BaseCommit, t.TestPatch, t.StartPatch, t.Licence = l.text("base_commit"), l.text("test_patch"), l.text("start_patch"), l.text("licence")
	t.Hidden = l.list("hidden", "a list of paths", "a path")
	t.Expected = l.statuses("expected")
	l.readTestCommand(&t)
	return t
}

// onlyFields refuses all fields but the known ones.
func (l *taskLine) onlyFields(known []string) {
	for _, field := range slices.Sorted(maps.Keys(l.fields)) {
		if !slices.Contains(known, field) {
			l.refuse(field, "is not a field of a task%s", meant(field, known))
		}
	}
}

// meant names the known field that differs from a field only by case.
func meant(field string, known []string) string {
	for _, k := range known {
		if strings.EqualFold(k, field) {
			return "; " + k + " is"
		}
	}
	return ""
}

// detectFormat identifies a line's format by fields that only this format has. It never guesses.
func (l *taskLine) detectFormat() Format {
	repo := strings.ToLower(l.quietText("repo"))
	switch {
	case l.has("expected_output_json") || l.has("parsed_commit_content"):
		return FormatR2EGym
	case strings.Contains(l.quietText("image_name"), "swesmith") || strings.HasPrefix(repo, "swesmith/"):
		return FormatSWESmith
	case l.has("dockerhub_tag") || l.has("before_repo_set_cmd") || l.has("selected_test_files_to_run"):
		return FormatSWEBenchPro
	case l.has("fix_patch") && l.has("org"):
		return FormatMultiSWE
	case l.has("image_url") && (l.has("parent_commit") || l.has("f2p_script") || l.has("f2p_patch")):
		return FormatScaleSWE
	case l.has("install_config") && l.ofRebenchV2():
		return FormatSWERebenchV2
	case l.has("install_config"):
		return FormatSWERebench
	case l.has("test_cmds"):
		return FormatSWEBenchLive
	case l.has("eval_script") || l.has("eval_type") || l.has("environment_setup_commit"):
		return FormatSWEBench
	case l.has("workdir") || l.has("test_cmd"):
		return FormatRelabel
	case slices.Contains(sweGymRepos, repo):
		return FormatSWEGym
	case slices.Contains(sweBenchRepos, repo):
		return FormatSWEBench
	case l.has("image"):
		return FormatRelabel
	case l.has("docker_image") || l.has("image_name"):
		return FormatSWEBench
	}
	l.refuse("image", "is missing, and the row shows no known data set's form: add it, or name the format")
	return ""
}

// ofRebenchV2 reports whether a line with an install_config has SWE-rebench's second version,
// whose recipe names the base image and whose images have a separate namespace.
func (l *taskLine) ofRebenchV2() bool {
	recipe := l.fields["install_config"]
	if recipe[0] == '"' {
		recipe = json.RawMessage(unquote(recipe))
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(recipe, &fields) // readInstallConfig reports errors
	_, named := fields["base_image_name"]
	return named || strings.Contains(l.quietText("image_name"), "swerebenchv2/")
}

// quietText reads a string without reporting problems.
func (l *taskLine) quietText(field string) string {
	if raw := l.fields[field]; len(raw) > 0 && raw[0] == '"' {
		return unquote(raw)
	}
	return ""
}

// image is the line's image, or the one that the data set publishes for the instance id.
func (l *taskLine) image(format Format) string {
	names := []string{"image_name", "docker_image", "image"}
	switch format {
	case FormatRelabel:
		names = []string{"image"}
	case FormatScaleSWE:
		names = append(names, "image_url")
	}
	for _, field := range names {
		if l.has(field) {
			image := l.need(field)
			if image != "" && !validImage(image) {
				l.refuse(field, "%q is not an image reference", image)
			}
			return image
		}
	}
	id := strings.ToLower(l.quietText("instance_id"))
	switch format {
	case FormatSWEBench:
		if repo := l.quietText("repo"); !slices.Contains(sweBenchRepos, strings.ToLower(repo)) {
			l.refuse("image", "is missing, and SWE-bench publishes no image for the repository %q: add image_name, docker_image or image", repo)
			return ""
		}
		return "swebench/sweb.eval.x86_64." + strings.ReplaceAll(id, "__", "_1776_") + ":latest"
	case FormatSWEBenchLive:
		return "starryzhang/sweb.eval.x86_64." + strings.ReplaceAll(id, "__", "_1776_")
	case FormatSWERebench:
		return "swerebench/sweb.eval.x86_64." + strings.ReplaceAll(id, "__", "_1776_") + ":latest"
	case FormatSWEGym:
		return "xingyaoww/sweb.eval.x86_64." + strings.ReplaceAll(id, "__", "_s_")
	}
	l.refuse("image", "is missing or empty")
	return ""
}
