# SPDX-License-Identifier: Apache-2.0
"""mcp_client.py PROGRAM ARGUMENT…: a client of the public Python SDK of the Model Context Protocol lists the tools and
calls each one. It prints a JSON object: the names of the tools, and per call whether it failed and its text."""
import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(program, arguments):
    server = StdioServerParameters(command=program, args=arguments)
    async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
        await session.initialize()
        await session.send_ping()
        names = [tool.name for tool in (await session.list_tools()).tools]
        calls = {}

        async def call(tool, **values):
            result = await session.call_tool(tool, values)
            failed = result.is_error if hasattr(result, "is_error") else result.isError
            calls[tool] = {"failed": failed, "text": result.content[0].text}
            return result.content[0].text

        lock = json.loads(await call("locks"))["locks"][0]
        await call("show", lock=lock["lock"])
        await call("findings", severity="warning")
        await call("graph")
        await call("note", lock=lock["lock"])
        await call("rehearse", lock=lock["lock"], holder=lock["contenders"][0]["id"])
        try:
            await call("force-release", lock=lock["lock"], holder=lock["contenders"][0]["id"])
        except Exception as error:  # its class differs between versions of the SDK
            calls["force-release"] = {"failed": True, "text": str(error)}
        print(json.dumps({"tools": names, "calls": calls}))


asyncio.run(main(sys.argv[1], sys.argv[2:]))
