/// A configuration with where its keys stand.
struct LoadedConfiguration: Sendable {
  /// The first of its files.
  let path: String
  let configuration: DaemonConfiguration
  let places: ConfigurationPlaces
  /// Its files and variables, in their order.
  let layers: [String]

  /// See ``DaemonConfiguration/load(path:environment:)``.
  /// - Parameter isOnlyChecked: whether nothing is to run by it: then secrets that are out of reach are left out.
  init(path: String, environment: [String: String], isOnlyChecked: Bool = false) throws(ConfigurationProblems) {
    let reading = ConfigurationReading(environment: environment, isOnlyChecked: isOnlyChecked)
    let layers = ConfigurationLayers(path: path, reading)
    var configuration = DaemonConfiguration()
    if let root = YAMLValue(key: "", layers: layers.layers) {
      configuration.read(root, in: ConfigurationFolder(of: path))
    } else if layers.areWhole {
      YAMLReader(file: path, reading: reading).report(.empty, at: nil)
    }
    if !layers.areWhole { reading.forgetAbsences() }
    guard reading.problems.isEmpty else { throw ConfigurationProblems(reading.problems, layers: layers.names) }
    self.path = path
    self.configuration = configuration
    self.layers = layers.names
    places = reading.places
  }

  /// A problem with a key, told where that stands.
  func problem(_ kind: ConfigurationProblem.Kind, with key: String) -> ConfigurationProblem {
    places.problem(kind, with: key, otherwise: path)
  }
}
