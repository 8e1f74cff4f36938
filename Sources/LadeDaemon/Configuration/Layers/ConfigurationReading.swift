import StrictYAML

/// One reading of a configuration with all its layers: their problems, and where each key stands.
final class ConfigurationReading {
  private(set) var problems: [ConfigurationProblem] = []
  /// Where each key stands in the layer that says it last.
  private(set) var places = ConfigurationPlaces()
  /// The environment: where the service manager keeps credentials.
  let environment: [String: String]

  /// Whether nothing is to run by it: a person who checks a configuration, or `ExecReload=` of the service, sees no
  /// credentials.
  let isOnlyChecked: Bool

  init(environment: [String: String] = [:], isOnlyChecked: Bool = false) {
    self.environment = environment
    self.isOnlyChecked = isOnlyChecked
  }

  func report(_ problem: ConfigurationProblem) { problems.append(problem) }

  func note(_ key: String, in file: String, at place: YAMLPlace?) { places.note(key, in: file, at: place) }

  /// Where a layer can't be read, what others lack may stand there, and so may what makes them right.
  func forgetAbsences() {
    problems.removeAll { problem in
      switch problem.kind {
      case .yaml(.missingKey), .yaml(.unknownWord), .yaml(.conflict): true
      case .unreadable, .empty, .yaml, .unfit: false
      }
    }
  }
}

/// Where the keys of a configuration stand.
struct ConfigurationPlaces: Sendable {
  private var places: [String: (file: String, place: YAMLPlace?)] = [:]

  mutating func note(_ key: String, in file: String, at place: YAMLPlace?) { places[key] = (file, place) }

  /// A problem with a key, reported where that stands, or at the nearest of the keys that lead to it.
  /// - Parameter file: what to name where none is known.
  func problem(_ kind: ConfigurationProblem.Kind, with key: String, otherwise file: String) -> ConfigurationProblem {
    var key = key[...]
    while places[String(key)] == nil, let dot = key.lastIndex(of: ".") { key = key[..<dot] }
    let found = places[String(key)]
    return ConfigurationProblem(
      file: found?.file ?? file, line: found?.place?.line, column: found?.place?.column, kind: kind)
  }
}
