/// Paths that must differ from each other.
struct DistinctPaths {
  private var keys: [String: (key: String, value: YAMLValue?)] = [:]

  /// Reports a path that another key has already. `value` is nil for a default.
  mutating func add(_ path: String, key: String, _ value: YAMLValue?) {
    if let other = keys[path], let place = value ?? other.value {
      let second = value == nil ? other.key : key
      let first = value == nil ? key : other.key
      place.report(.conflict(key: second, problem: "“\(path)” is that of `\(first)`, too"))
    }
    if keys[path] == nil { keys[path] = (key, value) }
  }
}
