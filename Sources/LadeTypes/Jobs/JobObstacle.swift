/// What a job that hasn't begun waits for, as a word. ``Job/waitsFor`` says it in words.
public enum JobObstacle: String, Codable, Sendable, Hashable, CaseIterable {
  /// Its release: it is held.
  case release
  /// Its file, which isn't in `active/` yet.
  case file
  /// The jobs that it follows.
  case jobs
  /// Its lane, which isn't configured.
  case lane
  /// Its lane, which is paused.
  case paused
  /// Its store, which another job uses alone, or that it is to have alone.
  case store
  /// The rate of its lane.
  case rate
}
