# shellcheck shell=bash
# servlet_api: the path of the jar of jakarta.servlet-api; nothing if there is none.
servlet_api() {
  local jar
  for jar in "${SERVLET_API-}" /usr/share/java/jakarta-servlet-api.jar \
    "$HOME/.m2/repository/jakarta/servlet/jakarta.servlet-api/6.0.0/jakarta.servlet-api-6.0.0.jar"; do
    [[ -f $jar ]] && echo "$jar" && return
  done
  if command -v mvn >/dev/null && timeout 300 mvn -q dependency:get -Dartifact=jakarta.servlet:jakarta.servlet-api:6.0.0 >/dev/null 2>&1; then
    [[ -f $jar ]] && echo "$jar"
  fi
  return 0
}
