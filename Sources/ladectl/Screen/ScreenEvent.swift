/// What a person does to a terminal that a view fills.
enum ScreenEvent: Sendable, Hashable {
  /// A key that is a character of ASCII; those of several bytes, such as arrows, are passed over.
  case key(UInt8)
  /// The terminal has another size, or may show something else by now: everything is to be drawn anew.
  case redraw
  /// To end, as this signal says.
  case ending(signal: Int32)
  /// Ctrl-Z.
  case stop
  /// The terminal is gone.
  case hangUp
}
