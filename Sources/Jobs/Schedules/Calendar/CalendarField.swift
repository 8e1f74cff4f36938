/// The values that one part of a calendar expression stands for: `*`, or a list such as `1,5..9/2,20/3`.
struct CalendarField: Sendable, Hashable {
  /// A value, a range, or what is reached from a value in steps.
  struct Item: Sendable, Hashable, Comparable {
    var first: Int
    /// The range's last value; nil for a single value, and for steps to the end of whatever they are in.
    var last: Int?
    /// From one value to the next; 0 for a single value.
    var step: Int

    static func < (a: Item, b: Item) -> Bool {
      (a.first, a.last ?? -1, a.step) < (b.first, b.last ?? -1, b.step)
    }

    /// The least of its values that isn't below `value`; nil if there is none.
    func next(from value: Int) -> Int? {
      if first >= value { return first }
      guard step > 0 else { return nil }
      let next = first + (value - first + step - 1) / step * step
      if let last, next > last { return nil }
      return next
    }

    /// The same with nothing in it that never comes.
    var shortest: Item {
      guard let last, last >= first else { return self }
      let end = step > 0 ? last - (last - first) % step : last
      return end == first ? Item(first: first, last: nil, step: 0) : Item(first: first, last: end, step: step)
    }
  }

  /// In order, each once; none for `*`.
  let items: [Item]

  static let any = CalendarField(items: [])

  init(items: [Item]) { self.items = Set(items.map(\.shortest)).sorted() }

  init(_ values: Int...) { self.init(items: values.map { Item(first: $0, last: nil, step: 0) }) }

  /// The least of its values from `value` to `limit`; nil if there is none.
  func next(from value: Int, limit: Int) -> Int? {
    let next = items.isEmpty ? value : items.lazy.compactMap { $0.next(from: value) }.min()
    return next.flatMap { $0 <= limit ? $0 : nil }
  }

  /// The same days of a month counted from its beginning, where these are counted from its end.
  func counted(fromEndOfMonthWith days: Int) -> CalendarField {
    CalendarField(
      items: items.map { item in
        guard let last = item.last else { return Item(first: days + 1 - item.first, last: nil, step: item.step) }
        return Item(first: days + 1 - last, last: days + 1 - item.first, step: item.step)
      })
  }
}

/// One part of an expression: what its values may be, and what it is called in messages.
enum CalendarUnit {
  case year, month, day, dayFromEnd, hour, minute, second

  /// What the values may be. Seconds are counted in millionths.
  var range: ClosedRange<Int> {
    switch self {
    case .year: 1970...2199
    case .month: 1...12
    case .day: 1...31
    case .dayFromEnd: 1...28
    case .hour: 0...23
    case .minute: 0...59
    case .second: 0...59_999_999
    }
  }

  var name: String {
    switch self {
    case .year: "a year"
    case .month: "a month"
    case .day: "a day"
    case .dayFromEnd: "a day counted from the end of the month"
    case .hour: "an hour"
    case .minute: "a minute"
    case .second: "a second"
    }
  }

  /// The values for a message.
  var shownRange: String {
    self == .second ? "0 to 59.999999" : "\(range.lowerBound) to \(range.upperBound)"
  }
}
