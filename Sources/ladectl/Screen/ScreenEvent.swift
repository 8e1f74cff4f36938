/// A user's action on a full-screen view.
enum ScreenEvent: Sendable, Hashable {
  /// An ASCII key; keys of several bytes, such as arrows, are ignored.
  case key(UInt8)
  /// The terminal's size or content may have changed: redraw everything.
  case redraw
  /// End by this signal.
  case ending(signal: Int32)
  /// Ctrl-Z.
  case stop
  /// The terminal is gone.
  case hangUp
}
