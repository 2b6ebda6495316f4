from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.deployment_dto import DeploymentDto
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...models.rehearsal_dto import RehearsalDto
from ...models.update_deployment_dto import UpdateDeploymentDto
from ...types import UNSET, Response, Unset


def _get_kwargs(
    name: str,
    *,
    body: UpdateDeploymentDto | Unset = UNSET,
    validate_only: bool | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    params: dict[str, Any] = {}

    params["validate_only"] = validate_only

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/api/v1/deployments/{name}".format(
            name=quote(str(name), safe=""),
        ),
        "params": params,
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> DeploymentDto | RehearsalDto | ErrorEnvelopeDto:
    if response.status_code == 200:

        def _parse_response_200(data: object) -> DeploymentDto | RehearsalDto:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_200_type_0 = DeploymentDto.from_dict(data)

                return response_200_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            response_200_type_1 = RehearsalDto.from_dict(data)

            return response_200_type_1

        response_200 = _parse_response_200(response.json())

        return response_200

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[DeploymentDto | RehearsalDto | ErrorEnvelopeDto]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    name: str,
    *,
    client: AuthenticatedClient,
    body: UpdateDeploymentDto | Unset = UNSET,
    validate_only: bool | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Response[DeploymentDto | RehearsalDto | ErrorEnvelopeDto]:
    """Change the settings of a deployment

     A JSON merge patch (RFC 7386): what it names changes, `null` takes a field away or back to its
    default, labels merge key by key. A rollout that runs goes on as it began. Lowering `protection`
    needs the scope admin.

    Args:
        name (str):
        validate_only (bool | Unset): `false` unless given.
        if_match (str | Unset):
        body (UpdateDeploymentDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeploymentDto | RehearsalDto | ErrorEnvelopeDto]
    """

    kwargs = _get_kwargs(
        name=name,
        body=body,
        validate_only=validate_only,
        if_match=if_match,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    name: str,
    *,
    client: AuthenticatedClient,
    body: UpdateDeploymentDto | Unset = UNSET,
    validate_only: bool | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> DeploymentDto | RehearsalDto | ErrorEnvelopeDto | None:
    """Change the settings of a deployment

     A JSON merge patch (RFC 7386): what it names changes, `null` takes a field away or back to its
    default, labels merge key by key. A rollout that runs goes on as it began. Lowering `protection`
    needs the scope admin.

    Args:
        name (str):
        validate_only (bool | Unset): `false` unless given.
        if_match (str | Unset):
        body (UpdateDeploymentDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeploymentDto | RehearsalDto | ErrorEnvelopeDto
    """

    return sync_detailed(
        name=name,
        client=client,
        body=body,
        validate_only=validate_only,
        if_match=if_match,
    ).parsed


async def asyncio_detailed(
    name: str,
    *,
    client: AuthenticatedClient,
    body: UpdateDeploymentDto | Unset = UNSET,
    validate_only: bool | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Response[DeploymentDto | RehearsalDto | ErrorEnvelopeDto]:
    """Change the settings of a deployment

     A JSON merge patch (RFC 7386): what it names changes, `null` takes a field away or back to its
    default, labels merge key by key. A rollout that runs goes on as it began. Lowering `protection`
    needs the scope admin.

    Args:
        name (str):
        validate_only (bool | Unset): `false` unless given.
        if_match (str | Unset):
        body (UpdateDeploymentDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeploymentDto | RehearsalDto | ErrorEnvelopeDto]
    """

    kwargs = _get_kwargs(
        name=name,
        body=body,
        validate_only=validate_only,
        if_match=if_match,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    name: str,
    *,
    client: AuthenticatedClient,
    body: UpdateDeploymentDto | Unset = UNSET,
    validate_only: bool | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> DeploymentDto | RehearsalDto | ErrorEnvelopeDto | None:
    """Change the settings of a deployment

     A JSON merge patch (RFC 7386): what it names changes, `null` takes a field away or back to its
    default, labels merge key by key. A rollout that runs goes on as it began. Lowering `protection`
    needs the scope admin.

    Args:
        name (str):
        validate_only (bool | Unset): `false` unless given.
        if_match (str | Unset):
        body (UpdateDeploymentDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeploymentDto | RehearsalDto | ErrorEnvelopeDto
    """

    return (
        await asyncio_detailed(
            name=name,
            client=client,
            body=body,
            validate_only=validate_only,
            if_match=if_match,
        )
    ).parsed
