/// A hook for tests to observe or interrupt a migration, or the replacement of a store's content.
package enum MigrationProbe {
  /// Called before each statement of a migration, and each step of a replacement, on the thread that runs it.
  @TaskLocal package static var onStep: (@Sendable (String) -> Void)?
}
