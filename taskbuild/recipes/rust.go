package recipes

import "relabel/taskbuild"

// rustImage has Rust and cargo of Debian, and a C compiler.
const rustImage = "relabel/base-rust:bookworm"

// detectCargo fits Rust packages and workspaces. Tests inside of source files cannot be told from source, so only
// changes of files with tests alone become tasks.
func detectCargo(t Tree) (taskbuild.Recipe, bool) {
	if !t.Has("Cargo.toml") {
		return taskbuild.Recipe{}, false
	}
	return taskbuild.Recipe{
		Name: "cargo", Image: rustImage, Workdir: workdir, Manifests: []string{"**/Cargo.toml", "Cargo.lock", "rust-toolchain", "rust-toolchain.toml"},
		Dependencies: []string{"cargo fetch", "cargo test --no-run || true"},
		Environment: map[string]string{
			"CARGO_HOME": "/usr/local/cargo", "CARGO_TARGET_DIR": "/var/cache/cargo-target", "CARGO_TERM_COLOR": "never",
			"CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS": "fallback", // without a lock file: the newest crates that this Rust compiles
		},
		TestCommand: "cargo test --offline --no-fail-fast " + taskbuild.TestsPlace, Tests: taskbuild.TestsCargo, LogParser: "cargo",
		TestFiles: []string{"tests/**", "**/tests/**", "**/tests.rs", "**/test.rs", "**/*_test.rs", "**/*_tests.rs"}, RunFiles: []string{"**/*.rs"},
		SourceFiles: []string{"**/*.rs", "**/*.pest", "**/*.lalrpop"}, Ignore: append([]string{"benches/**", "**/benches/**", "build.rs"}, ignored...),
		TestSeconds: testSeconds, BuildSeconds: buildSeconds,
	}, true
}
