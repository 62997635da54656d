package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"relabel/examples/train/learn/repair"
)

// docker runs a command of docker and returns its output.
func docker(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "docker", args...)
	var errors bytes.Buffer
	c.Stdin, c.Stderr = stdin, &errors
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("docker %s: %w: %s", args[0], err, bytes.TrimSpace(errors.Bytes()))
	}
	return strings.TrimSpace(string(out)), nil
}

// makeImage makes the image with the repositories of tasks, unless it exists: the base with an archive,
// without a build and without a network. It returns its name.
func makeImage(ctx context.Context, base string, tasks []repair.Task) (string, error) {
	from, err := docker(ctx, nil, "image", "inspect", "-f", "{{.Id}}", base)
	if err != nil {
		return "", err
	}
	var archive bytes.Buffer
	if err := repair.WriteArchive(&archive, tasks); err != nil {
		return "", err
	}
	sum := sha256.Sum256(append([]byte(from), archive.Bytes()...))
	name := "relabel/learn:" + hex.EncodeToString(sum[:6])
	if _, err := docker(ctx, nil, "image", "inspect", name); err == nil {
		return name, nil
	}
	box, err := docker(ctx, nil, "create", "--network", "none", base)
	if err != nil {
		return "", err
	}
	defer func() { _, _ = docker(context.WithoutCancel(ctx), nil, "rm", "-f", box) }()
	if _, err := docker(ctx, &archive, "cp", "-", box+":/"); err != nil {
		return "", err
	}
	_, err = docker(ctx, nil, "commit", "-c", "ENV PYTHONDONTWRITEBYTECODE=1", "-c", "LABEL relabel.learn=1", box, name)
	return name, err
}
