/// Countries and their subdivisions, as in iso-codes: a subdivision names its country and its parent in its own code and
/// in `parent`, and stands before its parent as often as after it.
enum Places {
  static let model = ModelText(
    ModelText.entity(
      "Country", unique: ["alpha2"],
      [
        .attribute("alpha2", column: "alpha_2"), .attribute("name"),
        .toMany("subdivisions", "Subdivision", inverse: "country"),
      ]),
    ModelText.entity(
      "Subdivision", unique: ["code"],
      [
        .attribute("code"), .attribute("name"), .attribute("type", optional: true),
        .toOne(
          "country", "Country", inverse: "subdivisions", template: "{code|^([A-Z][A-Z])}", by: "alpha2"),
        .toOne(
          "parent", "Subdivision", inverse: "children", template: "{code|^([A-Z][A-Z])}-{parent|([^-]+)$}", by: "code"),
        .toMany("children", "Subdivision", inverse: "parent"),
      ]))

  static let recipes = """
      countries: { store: main, entity: Country, root: "3166-1", batch_size: 10 }
      subdivisions: { store: main, entity: Subdivision, root: "3166-2", batch_size: 10 }
    """

  static let countries = """
    {"3166-1": [
      {"alpha_2": "GB", "name": "United Kingdom"},
      {"alpha_2": "FR", "name": "France"},
      {"alpha_2": "CH", "name": "Switzerland"}
    ]}
    """

  /// Forty départements, whose regions come last, forty batches of ten later; one parent that isn't there at all.
  static let departments = 400
  static let regions = 8

  static let subdivisions: String = {
    var records = ["{\"code\": \"CH-ZH\", \"name\": \"Zürich\", \"type\": \"Canton\"}"]
    for number in 0..<departments {
      records.append(
        "{\"code\": \"FR-\(number)\", \"name\": \"Département \(number)\", \"parent\": \"R\(number % regions)\"}")
    }
    records.append("{\"code\": \"GB-ABD\", \"name\": \"Aberdeenshire\", \"parent\": \"GB-SCT\"}")
    records.append("{\"code\": \"GB-XXX\", \"name\": \"Nowhere\", \"parent\": \"YYY\"}")
    for number in 0..<regions { records.append("{\"code\": \"FR-R\(number)\", \"name\": \"Région \(number)\"}") }
    records.append("{\"code\": \"GB-SCT\", \"name\": \"Scotland\", \"type\": \"Country\"}")
    return "{\"3166-2\": [\n" + records.joined(separator: ",\n") + "\n]}\n"
  }()
}
