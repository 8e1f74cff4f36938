/// The kinds of jobs that every daemon does. Programs may add others, so this is what is offered, not what is possible.
package enum StandardKinds {
  /// Those that can be submitted.
  package static let submitted = [
    "backup", "check", "checkpoint", "edit", "export", "import", "migrate", "optimise", "prune", "reindex", "restore",
    "revert", "undo", "update", "vacuum",
  ]
  /// With those that the queue makes itself.
  package static let all = (submitted + ["change"]).sorted()
}
