package import ControlAPI
import LadeTypes
import StrictYAML

extension RecipeDraft {
  /// The recipe as a configuration says it.
  package func yaml(named name: String) throws -> String {
    var settings: [String: OptionValue] = options
    settings["store"] = .string(store)
    settings["entity"] = .string(entity)
    settings["mode"] = mode.map { .string($0.rawValue) }
    // What a person looks for first stands first.
    let first = ["store", "entity", "mode", "key"].filter { settings[$0] != nil }
    let names = first + settings.keys.filter { !first.contains($0) }.sorted()
    return try YAMLText.of(names.compactMap { key in settings[key].map { (key, $0) } }, under: ["recipes", name])
  }
}
