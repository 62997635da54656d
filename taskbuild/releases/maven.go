package releases

import (
	"context"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
)

// mavenProject is a project that copies artifacts into a folder.
type mavenProject struct {
	XMLName      xml.Name        `xml:"project"`
	ModelVersion string          `xml:"modelVersion"`
	GroupID      string          `xml:"groupId"`
	ArtifactID   string          `xml:"artifactId"`
	Version      string          `xml:"version"`
	Packaging    string          `xml:"packaging"`
	Plugin       string          `xml:"build>plugins>plugin>artifactId"`
	Items        []mavenArtifact `xml:"build>plugins>plugin>configuration>artifactItems>artifactItem"`
	Output       string          `xml:"build>plugins>plugin>configuration>outputDirectory"`
}

// mavenArtifact is one file of a release.
type mavenArtifact struct {
	GroupID    string `xml:"groupId"`
	ArtifactID string `xml:"artifactId"`
	Version    string `xml:"version"`
	Type       string `xml:"type"`
	Classifier string `xml:"classifier,omitempty"`
	File       string `xml:"destFileName"`
}

// downloadMaven gets the files of a release in one call, because each starts a Java machine.
func downloadMaven(ctx context.Context, dir string, r release, _ []string) ([]string, error) {
	group, artifact, _ := strings.Cut(r.name, ":")
	project := mavenProject{ModelVersion: "4.0.0", GroupID: "releases", ArtifactID: "copy", Version: "1", Packaging: "pom",
		Plugin: "maven-dependency-plugin", Output: dir}
	var paths []string
	for _, a := range []mavenArtifact{{Type: "pom", File: "release.pom"}, {Type: "jar", Classifier: "sources", File: "sources.jar"},
		{Type: "jar", Classifier: "test-sources", File: "test-sources.jar"}} {
		a.GroupID, a.ArtifactID, a.Version = group, artifact, r.version
		project.Items = append(project.Items, a)
		paths = append(paths, filepath.Join(dir, a.File))
	}
	text, err := xml.Marshal(project)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "pom.xml"), text, 0o644); err != nil {
		return nil, err
	}
	_, err = run(ctx, dir, nil, "mvn", "-q", "-B", "-Dstyle.color=never", "dependency:copy")
	return paths, err
}

// unpackMaven makes the usual tree of a project from the files of a release: the pom, and the sources.
func unpackMaven(_ release, archives []string, into string) error {
	pom, err := os.ReadFile(archives[0])
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(into, "pom.xml"), pom, 0o644); err != nil {
		return err
	}
	if err := unpack(archives[1], into, ofMaven(mainFolder)); err != nil {
		return err
	}
	return unpack(archives[2], into, ofMaven(testFolder))
}

// Places of the files of a Maven release.
const (
	mainFolder = "src/main/"
	testFolder = "src/test/"
)

// ofMaven is the place of a file of a jar: sources and other files have folders of their own. Files that
// only describe the jar are left out.
func ofMaven(folder string) place {
	return func(name string) (string, bool) {
		switch {
		case name == "META-INF/MANIFEST.MF" || strings.HasPrefix(name, "META-INF/maven/"):
			return "", false
		case strings.HasSuffix(name, ".java"):
			return folder + "java/" + name, true
		}
		return folder + "resources/" + name, true
	}
}
