/// What a company's transformable attribute holds.
public struct Address: Codable, Hashable {
  var street: String
  var city: String
}
